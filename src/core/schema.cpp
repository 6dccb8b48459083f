#include "fuselage/core/schema.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"

namespace fuselage {
namespace {

// Every text with its length before it, so that no two schemas hash the same bytes.
void add_text(Sha256& hash, std::string_view text) {
  hash.update(fmt::format("{}:", text.size()));
  hash.update(text);
}

}  // namespace

Schema::Schema(std::string name, int version, std::vector<Feature> features)
    : name_(std::move(name)), version_(version), features_(std::move(features)) {
  assert(version >= 1);
  Sha256 hash;
  add_text(hash, name_);
  add_text(hash, fmt::format("{}", version_));
  for (const Feature& feature : features_) {
    add_text(hash, feature.name);
    add_text(hash, feature.unit);
    assert(std::count_if(features_.begin(), features_.end(),
                         [&](const Feature& other) { return other.name == feature.name; }) == 1);
  }
  fingerprint_ = hash.hex_digest();
}

std::size_t Schema::index(std::string_view feature) const {
  const auto found = std::find_if(features_.begin(), features_.end(),
                                  [&](const Feature& one) { return one.name == feature; });
  if (found != features_.end()) return static_cast<std::size_t>(found - features_.begin());
  std::vector<std::string_view> names;
  for (const Feature& one : features_) names.push_back(one.name);
  fail("schema {}: {} is no feature; expected one of {}", name_, quote(feature), join_names(names));
}

}  // namespace fuselage

// The options by which a search takes a learned guide.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fuselage/oracle/bundle.h"
#include "fuselage/oracle/walk_guide.h"

namespace CLI {
class App;
}

namespace fuselage::cli {

struct GuideOptions {
  std::string bundle = {};
  std::optional<std::int64_t> keep = {};
  std::optional<double> margin = {};
  std::string rank_by = {};
  std::optional<std::int64_t> lookahead = {};
};

// `options` must live as long as `app`.
void add_guide_options(CLI::App& app, GuideOptions& options);

// The bundle that was asked for, none if none was. Error if it doesn't fit, or for options about a guide
// without one.
std::shared_ptr<const oracle::Bundle> read_guide(const GuideOptions& options);
oracle::WalkGuideOptions walk_guide_options(const GuideOptions& options);
// `usual`: where neither --keep nor --margin says otherwise.
oracle::Keeping keeping_of(const GuideOptions& options, oracle::Keeping usual);

}  // namespace fuselage::cli

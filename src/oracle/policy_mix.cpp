#include "fuselage/oracle/policy_mix.h"

#include <array>
#include <optional>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/core/number_text.h"

namespace fuselage::oracle {
namespace {

constexpr const char* expected_of_grid =
    "of grid problems: optimal, epsP (such as eps0.1), random, greedy or naive, each with a weight if "
    "wanted, "
    "as in optimal:0.5,eps0.1:0.5";
constexpr const char* expected =
    "optimal, epsP (such as eps0.1), random, greedy, heuristic, constant32, 64, 128 or 256, alone32, 64, 128 "
    "or 256, each with a weight if wanted, as in optimal:0.5,eps0.1:0.5";

constexpr double most_weight = 1e9;

// By name in a mix: the name in headroom.h.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> references = {{
    {"greedy", "greedy, played"},
    {"heuristic", "heuristic"},
    {"alone32", "constant 32"},
    {"alone64", "constant 64"},
    {"alone128", "constant 128"},
    {"alone256", "constant 256"},
    {"constant32", "constant 32, fusing"},
    {"constant64", "constant 64, fusing"},
    {"constant128", "constant 128, fusing"},
    {"constant256", "constant 256, fusing"},
}};

std::optional<VisitPolicy> common_policy(std::string_view name) {
  if (name == "optimal") return VisitPolicy{.name = std::string(name), .kind = VisitKind::optimal};
  if (name == "random") return VisitPolicy{.name = std::string(name), .kind = VisitKind::random};
  if (name.starts_with("eps")) {
    const std::optional<double> epsilon = find_number(name.substr(3));
    if (!epsilon || *epsilon <= 0 || *epsilon > 1) return std::nullopt;
    return VisitPolicy{.name = std::string(name), .kind = VisitKind::erring, .epsilon = *epsilon};
  }
  return std::nullopt;
}

std::optional<VisitPolicy> reference_policy(std::string_view name, std::string_view reference) {
  return VisitPolicy{.name = std::string(name), .kind = VisitKind::reference, .reference = reference};
}

std::optional<VisitPolicy> walk_policy(std::string_view name) {
  for (const auto& [short_name, reference] : references)
    if (short_name == name) return reference_policy(name, reference);
  return common_policy(name);
}

std::optional<VisitPolicy> grid_policy(std::string_view name) {
  for (const std::string_view plan : {"greedy", "naive"})
    if (plan == name) return reference_policy(name, plan);
  return common_policy(name);
}

template <class PolicyOf>
PolicyMix parse(std::string_view text, const std::string& option, const PolicyOf& policy_of,
                const char* expected_policies) {
  PolicyMix mix;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const std::size_t colon = std::min(item.find(':'), item.size());
    std::optional<VisitPolicy> policy = policy_of(item.substr(0, colon));
    if (!policy)
      fail("{}: {} is no policy; expected {}", option, quote(item.substr(0, colon)), expected_policies);
    const std::optional<double> weight = colon < item.size() ? find_number(item.substr(colon + 1)) : 1.0;
    if (!weight || *weight <= 0 || *weight > most_weight)
      fail("{}: {} is no weight; expected a number above 0, at most {}", option,
           quote(item.substr(colon + 1)), most_weight);
    for (const MixPart& other : mix)
      if (other.policy.name == policy->name)
        fail("{}: {} appears twice; expected each policy once", option, quote(policy->name));
    mix.push_back({.policy = *std::move(policy), .weight = *weight});
    if (comma == text.size()) return mix;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

PolicyMix parse_policy_mix(std::string_view text, const std::string& option) {
  return parse(text, option, walk_policy, expected);
}

PolicyMix parse_grid_policy_mix(std::string_view text, const std::string& option) {
  return parse(text, option, grid_policy, expected_of_grid);
}

const VisitPolicy& draw_policy(const PolicyMix& mix, search::SplitMix& random) {
  double total = 0;
  for (const MixPart& part : mix) total += part.weight;
  double at = random.unit() * total;
  for (const MixPart& part : mix) {
    at -= part.weight;
    if (at < 0) return part.policy;
  }
  return mix.back().policy;
}

}  // namespace fuselage::oracle

// The rule sets of the grid family: how a kernel is priced and what makes it legal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fuselage::grid {

enum class RuleSet : std::uint8_t {
  fusionops,         // the RL environment, bit for bit
  fusionops_honest,  // and a tensor is loaded only if it is a graph input or was stored; outputs must be
                     // stored
  mlsys,             // the MLSys 2026 contest, with the organisers' answers
};
inline constexpr std::array<std::string_view, 3> rule_set_names = {"fusionops", "fusionops-honest", "mlsys"};

// What a k-step of a matmul costs under mlsys; the organisers' answers and the statement differ.
enum class Compute : std::uint8_t {
  k,         // base cost x k / K
  native_k,  // base cost x k / native width
};
inline constexpr std::array<std::string_view, 2> compute_names = {"k", "native-k"};

struct Rules {
  RuleSet set = RuleSet::mlsys;
  Compute compute = Compute::k;
  bool co_consumers = false;  // mlsys: may ops that only share an input form a kernel?

  friend bool operator==(const Rules&, const Rules&) = default;
};

constexpr std::string_view name(RuleSet set) {
  return rule_set_names[static_cast<std::size_t>(set)];
}
constexpr std::string_view name(Compute compute) {
  return compute_names[static_cast<std::size_t>(compute)];
}
constexpr std::optional<RuleSet> parse_rule_set(std::string_view text) {
  for (std::size_t i = 0; i < rule_set_names.size(); ++i)
    if (rule_set_names[i] == text) return static_cast<RuleSet>(i);
  return std::nullopt;
}

// "fusionops", "mlsys, compute k", "mlsys, compute native-k, co-consumers": equal texts, equal rules.
std::string rules_text(const Rules& rules);
std::optional<Rules> parse_rules_text(std::string_view text);

}  // namespace fuselage::grid

// The rule sets of the grid family: how a kernel is priced and what makes it legal.
#pragma once

#include <array>
#include <cstdint>
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

struct Rules {
  RuleSet set = RuleSet::mlsys;
  Compute compute = Compute::k;
  bool co_consumers = false;  // mlsys: may ops that only share an input form a kernel?
};

}  // namespace fuselage::grid

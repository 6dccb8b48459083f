// Who may share a kernel, under the mlsys rules: what the lower bound must know of the graph
// (least_charge.h). An op hands its output over to a reader in the same kernel, unless a pointwise op feeds a
// matmul whose K exceeds every tile. Ops that are linked by such handing over, through whatever others, may
// meet in one kernel. Where it would take long to find out that they can't, they may: that only weakens a
// bound.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

class Links {
 public:
  Links(const Instance& instance, const Rules& rules);

  // May `reader` read t in the kernel in which `maker` makes it?
  bool may_hand_over(OpId maker, TensorId t, OpId reader) const;
  // May a matmul read the op's output in a kernel, perhaps through pointwise ops?
  bool may_feed_matmul(OpId op) const { return feeds_matmul_[static_cast<std::size_t>(op)]; }
  // May the two be in one kernel in which `sink` hands nothing over? (no_op: none such.)
  bool may_meet(OpId op, OpId other, OpId sink);
  // Ops of different sets are never in one kernel.
  const std::vector<std::vector<OpId>>& sets() const { return sets_; }

 private:
  static constexpr std::size_t most_visited = 512;      // ops, to find out that two can't meet
  static constexpr std::size_t most_kept = 1ULL << 24;  // ops, in all sets that are remembered

  struct Neighbour {
    OpId op = no_op;
    bool reads = false;  // what the other hands over; else it makes it
  };
  void find_matmuls_behind();
  void link();
  void split_into_sets();
  // All that `op` may meet where `sink` hands nothing over, itself included, ascending; empty: they are many,
  // and it may meet any.
  const std::vector<OpId>& met_without(OpId op, OpId sink);
  std::vector<OpId> connected_without(OpId op, OpId sink);

  const Instance& instance_;
  const Rules& rules_;
  std::vector<char> feeds_short_matmul_;  // by op: is there a matmul behind it that one k-step can do?
  std::vector<char> feeds_matmul_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<std::vector<OpId>> sets_;
  std::vector<std::int32_t> set_of_;
  std::unordered_map<std::uint64_t, std::vector<OpId>> known_;  // by op and sink
  std::size_t kept_ = 0;                                        // ops in known_
  std::vector<std::uint32_t> visited_;                          // the round in which an op was
  std::uint32_t round_ = 0;
};

}  // namespace fuselage::grid

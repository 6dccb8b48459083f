// A lower bound for memory-bound schedules under `physical`, fixed order: dynamic programming over the runs
// of the order with residency relaxed, but not for all tensors. A few are tracked for their whole life:
// whether each is in fast memory, and whether it has been written. Of everything else only the slices take
// room, and it moves for free.
//
// Why it bounds: leave the untracked tensors out of any schedule. Its kernels are still runs, what they move
// of tracked tensors is what they moved, they need no more room, and their tiles fit. So the schedule is a
// path of this program that costs no more, from every state on.
//
// Tracked are the tensors of the greatest traffic (bytes times one store and every load), as long as no more
// than `slots` of them live at once; a tensor keeps its slot as long as it lives.
#pragma once

#include <array>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/price.h"
#include "fuselage/walk/problem.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

class ResidencyBound {
 public:
  // Graph, hardware and runs must outlive it. It is of no use unless it is finished: the deadline of the
  // options may have passed before.
  ResidencyBound(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                 const ProblemOptions& options);

  bool finished() const { return finished_; }
  // Cycles; infinite if no schedule is left even so.
  double operator()(const State& state) const;

 private:
  static constexpr std::size_t slots = 3;
  static constexpr std::size_t codes = 27;  // 3^slots: each slot is out, in and written, or in and unwritten
  enum : int { out = 0, written = 1, unwritten = 2 };
  using Residency = std::array<int, slots>;
  using Tracked = std::array<NodeId, slots>;  // -1: nothing

  struct Step;  // one run, as the tracked tensors see it

  bool assign_slots();
  void fill(int position);
  double least(const Step& step, const Residency& before) const;
  double price(const Step& step, const Residency& before, unsigned kept) const;
  static std::size_t code(const Residency& residency);

  const Graph& graph_;
  const Hardware& hardware_;
  const RunTable& runs_;
  ProblemOptions options_;
  bool finished_ = false;
  std::vector<Tracked> tracked_;                  // by position: what lives there
  std::vector<std::array<double, codes>> to_go_;  // by position and code, cycles
};

}  // namespace fuselage::walk

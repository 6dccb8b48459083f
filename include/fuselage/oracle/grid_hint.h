// What could come next in an episode of the grid family that somebody else plays, and what it is worth, by
// the best completions that searches find. The table of completions is kept between two questions, so the
// answers to the later ones of an episode come sooner.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"
#include "fuselage/oracle/labelled_graph.h"

namespace fuselage::oracle {

struct GridHint {
  Value value;     // time units still to come, as far as is known
  double optimum;  // of the whole problem, as far as is known
  std::vector<LabelledAnswer> answers;
};

class GridHints {
 public:
  // The instance must outlive it. `steps`: kernels priced, at most, of the search from one state.
  GridHints(const grid::Instance& instance, const grid::Rules& rules, std::uint64_t steps);
  ~GridHints();

  // After these kernels, all of them legal. Error where a step without ops emptied fast memory, and where no
  // way to go on is known.
  GridHint after(const grid::Plan& played);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fuselage::oracle

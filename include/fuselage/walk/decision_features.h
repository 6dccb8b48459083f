// What a ranker is told about one decision of the walk family: the state, and the kernel that could come
// next. A kernel's tokens (features.h) are of any number and a row is not, so a row has the first and the
// last of them and the sum of all. Like all features they describe and never price.
//
// Fixed order only.
#pragma once

#include <span>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/walk/features.h"
#include "fuselage/walk/problem.h"

namespace fuselage::walk {

// "state.…" and "after.…" of state_schema(), "first.…", "last.…" and "sum.…" of token_schema(), "fallback".
const Schema& decision_schema();

// The tokens of a kernel at a state, [token features x members], added to what is there.
void append_tokens(const Features& features, const State& state, const Kernel& kernel,
                   std::vector<float>& tokens);

// Of one workload; uses its memory again, so of one thread.
class DecisionRows {
 public:
  // Must outlive it.
  explicit DecisionRows(const Features& features) : features_(&features) {}

  static std::size_t width() { return decision_schema().size(); }
  // rows [width() x kernels], a column a kernel.
  void fill(const WalkProblem& problem, const State& state, std::span<const Kernel> kernels,
            std::span<float> rows);

 private:
  const Features* features_;
  std::vector<float> state_;
  std::vector<float> after_;
  std::vector<float> tokens_;
};

}  // namespace fuselage::walk

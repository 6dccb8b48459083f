// What a ranker is told about one decision of the grid family: the problem, the state, and the kernel that
// could come next, as a whole and by the most and the least that its tokens say (features.h). Nothing is
// priced, so kernels are described at native granularity.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/grid/features.h"
#include "fuselage/grid/problem.h"

namespace fuselage::grid {

// "problem.…" of workload_schema(), "state.…" of state_schema(), "kernel.…" of kernel_schema(), "most.…" and
// "least.…" of token_schema() but for what a kernel's tokens share.
const Schema& decision_schema();

// Of one problem; uses its memory again, so of one thread.
class DecisionRows {
 public:
  // Must outlive it.
  explicit DecisionRows(const Features& features) : features_(&features) {}

  static std::size_t width() { return decision_schema().size(); }
  // rows [width() x kernels], a column a kernel.
  void fill(const State& state, std::span<const GridKernel> kernels, std::span<float> rows);
  // The same for guides, which have the problem at hand (perhaps one that wraps ours).
  template <class Problem>
  void fill(const Problem&, const State& state, std::span<const GridKernel> kernels, std::span<float> rows) {
    fill(state, kernels, rows);
  }

 private:
  const Features* features_;
  std::vector<float> workload_;
  std::vector<float> state_;
  std::vector<float> kernel_;
  std::vector<float> most_;
  std::vector<float> least_;
  std::vector<TensorId> retain_;
};

}  // namespace fuselage::grid

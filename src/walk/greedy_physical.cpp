#include <algorithm>

#include "fuselage/walk/baseline.h"
#include "fuselage/walk/problem.h"

namespace fuselage::walk {
namespace {

constexpr std::array<int, 3> greedy_tiles = {2, 1, 0};  // 128, 64, 32, as indices into tiles

// Walks the order with greedy kernels; each is appended if it fits.
class PhysicalWalk {
 public:
  explicit PhysicalWalk(const WalkProblem& problem) : problem_(problem), state_(problem.initial()) {}

  bool run(int count, const std::vector<NodeId>& retain) {
    Kernel kernel{.first = state_.position, .count = count};
    kernel.retain.assign(retain.begin(), retain.end());
    std::sort(kernel.retain.begin(), kernel.retain.end());
    for (int tile : greedy_tiles) {
      kernel.tile = tile;
      if (!problem_.fits(state_, kernel)) continue;
      latency_ += problem_.price(state_, kernel);
      state_ = problem_.apply(state_, kernel);
      kernels_.push_back(kernel);
      return true;
    }
    return false;
  }
  Greedy result() const { return {.plan = problem_.plan_of(kernels_), .latency = latency_}; }

 private:
  const WalkProblem& problem_;
  State state_;
  std::vector<Kernel> kernels_;
  double latency_ = 0;
};

}  // namespace

std::optional<Greedy> greedy_physical(const Graph& graph, const Hardware& hardware, const RunTable& runs) {
  const WalkProblem problem(graph, hardware, runs, {.rules = Rules::physical, .tight_bounds = false});
  PhysicalWalk walk(problem);
  for (const PlanKernel& group : greedy_groups(graph, hardware)) {
    const int count = static_cast<int>(group.nodes.size());
    if (walk.run(count, group.retain) || walk.run(count, {})) continue;
    for (int i = 0; i < count; ++i)
      if (!walk.run(1, {})) return std::nullopt;
  }
  return walk.result();
}

std::optional<Greedy> naive_physical(const Graph& graph, const Hardware& hardware, const RunTable& runs) {
  const WalkProblem problem(graph, hardware, runs, {.rules = Rules::physical, .tight_bounds = false});
  PhysicalWalk walk(problem);
  for (int i = 0; i < graph.size(); ++i)
    if (!walk.run(1, {})) return std::nullopt;
  return walk.result();
}

}  // namespace fuselage::walk

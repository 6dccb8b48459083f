// Free order keeps one state of those that differ by an exchange of like parts: the optimum, the plans and
// what they are charged stay what they are.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "brute_physical.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"
#include "fuselage/walk/problem.h"
#include "laws.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using walk::Order;
using walk::Rules;

// A random part, several times side by side between one source and one sink (or none).
Workload towers(Dice& dice, int copies, int size) {
  struct Part {
    Op op;
    std::vector<int> inputs;  // nodes of the part; -1: the source
    int width;
  };
  std::vector<Part> part;
  for (int i = 0; i < size; ++i) {
    Part& p = part.emplace_back(Part{static_cast<Op>(dice.below(9)), {}, 32 * dice.between(1, 4)});
    for (int edges = dice.between(1, 2); edges > 0; --edges) p.inputs.push_back(dice.between(-1, i - 1));
  }
  const bool interleaved = dice.chance(50);
  std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {})};
  std::vector<std::vector<NodeId>> ids(static_cast<std::size_t>(copies));
  const auto put = [&](int copy, int i) {
    const Part& p = part[static_cast<std::size_t>(i)];
    std::vector<NodeId> inputs;
    for (int x : p.inputs)
      inputs.push_back(x < 0 ? 0 : ids[static_cast<std::size_t>(copy)][static_cast<std::size_t>(x)]);
    nodes.push_back(derived_node(p.op, 64, p.width, inputs));
    ids[static_cast<std::size_t>(copy)].push_back(static_cast<NodeId>(nodes.size() - 1));
  };
  for (int a = 0; a < (interleaved ? size : copies); ++a)
    for (int b = 0; b < (interleaved ? copies : size); ++b) interleaved ? put(b, a) : put(a, b);
  if (dice.chance(70)) {
    std::vector<NodeId> ends;
    for (const auto& copy : ids) ends.push_back(copy.back());
    nodes.push_back(derived_node(Op::add, 64, 64, ends));
  }
  Hardware hardware;
  hardware.fast_mem_capacity = 1024 * dice.between(12, 80);
  hardware.slow_mem_bandwidth = dice.pick({0.5, 2.0, 8.0});
  hardware.kernel_launch_cost = dice.pick({0.0, 500.0, 5000.0});
  hardware.max_fusion_depth = dice.between(1, 4);
  return {"towers", Graph(std::move(nodes)), hardware};
}

TEST(Towers, the_optimum_is_that_of_brute_force) {
  Dice dice(11);
  int solved = 0;
  for (int i = 0; i < 250; ++i) {
    const int copies = dice.between(2, 3);
    const Workload w = towers(dice, copies, copies == 2 ? dice.between(1, 2) : 1);
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = Rules::physical, .order = Order::free});
    const auto outcome = search::exact(problem);
    const double optimum = walk::BrutePhysical(w, Order::free).optimum();
    EXPECT_EQ(outcome.found, std::isfinite(optimum)) << i;
    if (!outcome.found) continue;
    EXPECT_NEAR(outcome.cost, optimum, 1e-9 * optimum) << i;
    ++solved;
  }
  EXPECT_GT(solved, 100);
}

// What the rules say of a graph without a schedule, from its sets of done nodes alone: the largest that can
// be reached (ties: the earliest positions), its first undone node, the least working set of a kernel that
// runs it.
class Stuck {
 public:
  explicit Stuck(const Workload& w) : graph_(w.graph), hardware_(w.hardware) {
    const int n = graph_.size();
    std::vector<std::vector<int>> reached = {{}};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (unsigned set = 1; set < (1U << n); ++set)
        if (const auto next = run(reached[i], set, hardware_.fast_mem_capacity);
            !next.empty() && std::find(reached.begin(), reached.end(), next) == reached.end())
          reached.push_back(next);
    std::vector<int> best = reached[0];
    for (const auto& done : reached)
      if (done.size() > best.size() || (done.size() == best.size() && done < best)) best = done;
    is_stuck = static_cast<int>(best.size()) < n;
    while (first < static_cast<int>(best.size()) && best[static_cast<std::size_t>(first)] == first) ++first;
    for (unsigned set = 1; is_stuck && set < (1U << n); ++set)
      if (set >> first & 1U && !run(best, set, std::numeric_limits<std::int64_t>::max()).empty())
        smallest = std::min(smallest, last_working_set_);
  }

  bool is_stuck = false;
  int first = 0;  // position
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();

 private:
  // The done positions after a kernel of the positions in `set`; empty if that is none that fits.
  std::vector<int> run(const std::vector<int>& done, unsigned set, std::int64_t capacity) {
    std::vector<int> next = done;
    std::set<NodeId> boundary;
    int roots = 0;
    for (int at = 0; at < graph_.size(); ++at) {
      if (!(set >> at & 1U)) continue;
      if (std::find(done.begin(), done.end(), at) != done.end()) return {};
      next.push_back(at);
      const NodeId v = graph_.order()[static_cast<std::size_t>(at)];
      bool reads_member = false;
      for (NodeId x : graph_.inputs(v)) {
        const int from = graph_.position(x);
        if (set >> from & 1U)
          reads_member = true;
        else if (std::find(done.begin(), done.end(), from) == done.end())
          return {};
        else
          boundary.insert(x);
      }
      roots += !reads_member;
      const auto readers = graph_.consumers(v);
      if (readers.empty() || std::any_of(readers.begin(), readers.end(),
                                         [&](NodeId c) { return !(set >> graph_.position(c) & 1U); }))
        boundary.insert(v);
    }
    if (roots != 1 || static_cast<int>(next.size() - done.size()) > hardware_.max_fusion_depth) return {};
    last_working_set_ = 0;
    for (NodeId x : boundary) last_working_set_ += std::min<std::int64_t>(graph_.bytes(x), 4 * 32 * 32);
    if (last_working_set_ > capacity) return {};
    std::sort(next.begin(), next.end());
    return next;
  }

  const Graph& graph_;
  const Hardware& hardware_;
  std::int64_t last_working_set_ = 0;
};

TEST(Towers, a_graph_without_a_schedule_is_explained_by_its_own_nodes) {
  Dice dice(13);
  int stuck = 0;
  int late = 0;  // where an exchange decides which node is named
  for (int i = 0; i < 400; ++i) {
    const int copies = dice.between(2, 3);
    Workload w = towers(dice, copies, copies == 2 ? dice.between(1, 3) : dice.between(1, 2));
    w.hardware.fast_mem_capacity = 4096 * dice.between(1, 3) + dice.between(0, 100);
    const Stuck expected(w);
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = Rules::physical, .order = Order::free});
    const auto outcome = search::exact(problem);
    ASSERT_EQ(outcome.infeasible, expected.is_stuck) << i;
    if (!outcome.infeasible) continue;
    const auto reason = problem.explain_infeasible(outcome.deepest);
    EXPECT_EQ(w.graph.position(reason.node), expected.first) << i;
    EXPECT_EQ(reason.smallest_working_set, expected.smallest) << i;
    ++stuck;
    late += expected.first > 1;
  }
  EXPECT_GT(stuck, 60);
  EXPECT_GT(late, 10);
}

TEST(Towers, laws_hold_and_plans_are_charged_as_claimed) {
  Dice dice(12);
  for (int i = 0; i < 25; ++i) {
    const Workload w = towers(dice, dice.between(2, 3), dice.between(1, 3));
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::WalkProblem problem(w.graph, w.hardware, runs,
                                    {.rules = Rules::physical, .order = Order::free});
    if (w.graph.size() <= 8) search::check_laws(problem, dice, fmt::format("towers {}", i));
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      const auto outcome = search::mcts(problem, {.budget = {.steps = 400}, .seed = seed});
      if (!outcome.found) continue;
      const walk::Plan plan = problem.plan_of(outcome.plan);
      const auto checked =
          oracle::simulate(w.graph, w.hardware, plan, {.rules = Rules::physical, .order = Order::free});
      ASSERT_TRUE(checked.legal()) << i << ": " << checked.fault->message;
      EXPECT_NEAR(checked.latency, outcome.cost, 1e-9 * outcome.cost) << i;
      EXPECT_EQ(problem.plan_of(problem.kernels_of(plan)), plan) << i;
    }
  }
}

}  // namespace
}  // namespace fuselage

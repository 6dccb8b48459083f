// `physical` in free order: which kernels can run is checked against all topological orders, spelled out by
// Boost.Graph; optima of the fixed tasks and of graphs with attention heads side by side are proven.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <cmath>
#include <map>
#include <set>

#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/exact.h"
#include "fuselage/walk/problem.h"
#include "fuselage/walk/tasks.h"
#include "heads.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

using Set = std::set<NodeId>;
// By the set of done nodes: the sets of nodes that can be the next kernel.
using Choices = std::map<Set, std::set<Set>>;

// ---- by way of topological orders

class AllOrders {
 public:
  using Dag = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

  explicit AllOrders(const Workload& w)
      : dag_(static_cast<std::size_t>(w.graph.size())), most_(w.hardware.max_fusion_depth) {
    for (NodeId v = 0; v < w.graph.size(); ++v)
      for (NodeId x : w.graph.inputs(v))
        boost::add_edge(Dag::vertex_descriptor(x), Dag::vertex_descriptor(v), dag_);
    extend();
  }
  const Choices& choices() const { return choices_; }
  std::size_t orders() const { return orders_; }

 private:
  void extend() {
    if (order_.size() == boost::num_vertices(dag_)) {
      ++orders_;
      cut();
      return;
    }
    for (const auto v : boost::make_iterator_range(boost::vertices(dag_))) {
      const auto done = [&](auto x) { return std::find(order_.begin(), order_.end(), x) != order_.end(); };
      const auto ins = boost::make_iterator_range(boost::in_edges(v, dag_));
      if (done(v) || !std::all_of(ins.begin(), ins.end(), [&](auto e) { return done(source(e, dag_)); }))
        continue;
      order_.push_back(v);
      extend();
      order_.pop_back();
    }
  }
  // Every piece of the order whose nodes hang together in it is a kernel after what comes before.
  void cut() {
    Set done;
    for (std::size_t from = 0; from < order_.size(); ++from) {
      Set kernel;
      for (std::size_t at = from; at < order_.size() && static_cast<int>(kernel.size()) < most_; ++at) {
        const auto ins = boost::make_iterator_range(boost::in_edges(order_[at], dag_));
        const bool reads_a_member = std::any_of(ins.begin(), ins.end(), [&](auto e) {
          return kernel.count(static_cast<NodeId>(source(e, dag_))) > 0;
        });
        if (!kernel.empty() && !reads_a_member) break;
        kernel.insert(static_cast<NodeId>(order_[at]));
        choices_[done].insert(kernel);
      }
      done.insert(static_cast<NodeId>(order_[from]));
    }
    choices_[done];
  }

  Dag dag_;
  int most_;
  std::vector<Dag::vertex_descriptor> order_;
  std::size_t orders_ = 0;
  Choices choices_;
};

// ---- by way of the problem

Set done_in(const Graph& graph, const State& s) {
  Set done(graph.order().begin(), graph.order().begin() + s.position);
  for (NodeId at : s.ahead) done.insert(graph.order()[static_cast<std::size_t>(at)]);
  return done;
}

Choices declared(const Workload& w, const WalkProblem& problem) {
  Choices choices;
  std::vector<State> open = {problem.initial()};
  choices[{}];
  std::vector<Kernel> kernels;
  while (!open.empty()) {
    const State s = open.back();
    open.pop_back();
    const Set done = done_in(w.graph, s);
    EXPECT_TRUE(problem.kernels(s, kernels));
    for (const Kernel& k : kernels) {
      Set members;
      for (NodeId at : k.nodes) members.insert(w.graph.order()[static_cast<std::size_t>(at)]);
      choices[done].insert(members);
      const State next = problem.apply(s, k);
      if (choices.try_emplace(done_in(w.graph, next)).second) open.push_back(next);
    }
  }
  return choices;
}

TEST(FreeOrder, kernels_are_those_of_all_topological_orders) {
  Dice dice(11);
  std::size_t orders = 0;
  std::size_t down_sets = 0;
  for (int i = 0; i < 60; ++i) {
    Workload w = random_workload(dice, {.nodes = 2 + i % 6});
    w.hardware.fast_mem_capacity = 100 << 20;  // whatever runs, fits
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, {.rules = Rules::physical, .order = Order::free});
    const AllOrders all(w);
    const Choices found = declared(w, problem);
    EXPECT_EQ(found, all.choices()) << i;
    EXPECT_EQ(found.size(), count_down_sets(w.graph)) << i;
    orders += all.orders();
    down_sets += found.size();
  }
  EXPECT_GT(orders, 1000U);
  EXPECT_GT(down_sets, 500U);
}

// ---- optima

oracle::Solution solve_free(const Workload& w, oracle::Engine engine = oracle::Engine::automatic) {
  return oracle::solve(w, {.rules = Rules::physical,
                           .order = Order::free,
                           .engine = engine,
                           .budget = {.steps = 40'000'000},
                           .threads = 2});
}

TEST(FreeOrder, optima_of_the_tasks_are_proven) {
  constexpr double optima[] = {111806.72, 1910476.16, 3914488.32, 3243787.73, 2157852.16};
  for (std::size_t i = 0; i < tasks().size(); ++i) {
    const auto solution = solve_free(make_task(tasks()[i]));
    EXPECT_EQ(solution.proof, search::Proof::optimal) << tasks()[i].name;
    EXPECT_NEAR(solution.cost, optima[i], 0.005) << tasks()[i].name;
  }
}

// Any plan of the fixed order is one of the free order.
TEST(FreeOrder, is_never_worse_than_fixed) {
  int better = 0;
  for (int i = 0; i < 60; ++i) {
    PythonRandom random(static_cast<std::uint64_t>(i));
    const Workload w = generate({.num_ops = 6 + i % 20,
                                 .difficulty = static_cast<Difficulty>(i % 4),
                                 .topology = static_cast<Topology>(i / 4 % 6)},
                                random);
    const auto fixed = oracle::solve(w, {.rules = Rules::physical});
    const auto free = solve_free(w, i % 2 == 0 ? oracle::Engine::automatic : oracle::Engine::exact);
    EXPECT_EQ(free.proof, search::Proof::optimal) << i;
    EXPECT_LE(free.cost, fixed.cost * (1 + 1e-9)) << i;
    better += free.cost < fixed.cost * (1 - 1e-9);
  }
  EXPECT_GT(better, 5);
}

TEST(FreeOrder, heads_side_by_side_are_proven) {
  double fixed_sum = 0;
  double free_sum = 0;
  for (int heads = 1; heads <= 3; ++heads) {
    const Workload w = heads_workload({.heads = heads});
    const auto fixed = oracle::solve(w, {.rules = Rules::physical, .threads = 2});
    const auto free = solve_free(w);
    EXPECT_EQ(fixed.proof, search::Proof::optimal) << heads;
    EXPECT_EQ(free.proof, search::Proof::optimal) << heads;
    EXPECT_LE(free.cost, fixed.cost * (1 + 1e-9)) << heads;
    if (heads > 1) {
      EXPECT_LT(free.cost, 0.999 * fixed.cost) << heads << " heads: the fixed order has them take turns";
    }
    fixed_sum += fixed.cost;
    free_sum += free.cost;
  }
  RecordProperty("free_of_fixed", fmt::format("{:.4f}", free_sum / fixed_sum));
}

TEST(FreeOrder, more_than_100000_down_sets_are_proven) {
  const Workload w = heads_workload({.heads = 5});
  EXPECT_GE(count_down_sets(w.graph), 100'000U);
  const auto solution = solve_free(w);
  EXPECT_EQ(solution.proof, search::Proof::optimal);
  const auto checked =
      oracle::simulate(w.graph, w.hardware, solution.plan, {.rules = Rules::physical, .order = Order::free});
  ASSERT_TRUE(checked.legal()) << checked.fault->message;
  EXPECT_EQ(checked.latency, solution.cost);
}

TEST(FreeOrder, more_heads_than_can_be_proven_keep_a_plan_and_a_bound) {
  HeadsOptions heads = {.heads = 40};
  heads.hardware.fast_mem_capacity = 400'000;  // holds a part of every context, which their sum reads at once
  const Workload w = heads_workload(heads);
  const auto solution = oracle::solve(
      w, {.rules = Rules::physical, .order = Order::free, .budget = {.steps = 200'000}, .threads = 2});
  ASSERT_TRUE(solution.found);
  EXPECT_LT(solution.gap(), 0.1);
  EXPECT_LT(solution.cost, *solution.greedy_latency);
}

}  // namespace
}  // namespace fuselage::walk

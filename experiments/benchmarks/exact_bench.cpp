// Time to a proven optimum: generated graphs of 50 nodes (mean over 100 seeds), and long chains of attention
// and residual blocks.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <vector>

#include "fuselage/search/exact.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/problem.h"

namespace {

using namespace fuselage;
using namespace fuselage::walk;

std::vector<Workload> expert_graphs() {
  std::vector<Workload> workloads;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PythonRandom random(seed);
    workloads.push_back(
        generate({.num_ops = 50, .difficulty = Difficulty::expert, .topology = Topology::mixed}, random));
  }
  return workloads;
}

void exact_50_nodes(benchmark::State& state, Rules rules) {
  static const std::vector<Workload> workloads = expert_graphs();
  std::uint64_t states = 0;
  std::uint64_t proven = 0;
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    states = proven = 0;
    for (const Workload& w : workloads) {
      const RunTable runs(w.graph, w.hardware);
      const WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
      const auto outcome = search::exact(problem);
      states += outcome.states;
      proven += outcome.proof == search::Proof::optimal;
    }
  }
  const double graphs = static_cast<double>(workloads.size());
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  state.counters["ms_per_graph"] = seconds * 1e3 / (graphs * static_cast<double>(state.iterations()));
  state.counters["states_per_graph"] = static_cast<double>(states) / graphs;
  state.counters["proven"] = static_cast<double>(proven);
}
BENCHMARK_CAPTURE(exact_50_nodes, seed_honest, Rules::seed_honest)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_50_nodes, seed, Rules::seed)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_50_nodes, physical, Rules::physical)->Unit(benchmark::kMillisecond);

// Ten ops a block: an attention block on the newest node, then a residual block on that.
Workload block_chain(int nodes) {
  std::vector<Node> list;
  const auto put = [&](Op op, std::vector<NodeId> inputs) {
    list.push_back(derived_node(op, 256, 256, std::move(inputs)));
    return static_cast<NodeId>(list.size() - 1);
  };
  NodeId x = put(Op::matmul, {});
  while (static_cast<int>(list.size()) < nodes) {
    const NodeId q = put(Op::matmul, {x});
    const NodeId k = put(Op::matmul, {x});
    const NodeId v = put(Op::matmul, {x});
    const NodeId scores = put(Op::matmul, {q, k});
    x = put(Op::matmul, {put(Op::softmax, {scores}), v});
    const NodeId hidden = put(Op::matmul, {put(Op::relu, {put(Op::matmul, {x})})});
    x = put(Op::add, {x, hidden});
  }
  list.resize(static_cast<std::size_t>(nodes));
  return {"chain", Graph(std::move(list)), hardware_for(Difficulty::hard, 256 * 256 * 4)};
}

void exact_chain(benchmark::State& state, Rules rules) {
  const Workload w = block_chain(static_cast<int>(state.range(0)));
  double proven = 0;
  for (auto _ : state) {
    const RunTable runs(w.graph, w.hardware);
    const WalkProblem problem(w.graph, w.hardware, runs, {.rules = rules});
    const auto outcome = search::exact(problem);
    proven = outcome.proof == search::Proof::optimal ? 1 : 0;
  }
  state.counters["proven"] = proven;
}
BENCHMARK_CAPTURE(exact_chain, seed_honest, Rules::seed_honest)
    ->Arg(2000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_chain, seed, Rules::seed)->Arg(2000)->Arg(20000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_chain, physical, Rules::physical)->Arg(2000)->Unit(benchmark::kMillisecond);

}  // namespace

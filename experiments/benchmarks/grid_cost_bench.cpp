// Microseconds a grid kernel takes to be priced in closed form, beside those of running it tile by tile in
// the same process. The kernels are those that a search proposes: all that the problem declares in the states
// along greedy's plan and along the naive one, each once, at the granularity and traversal that the search
// gives them.

#include "grid_cost_bench.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "fuselage/grid/generator.h"
#include "fuselage/grid/problem.h"
#include "fuselage/grid/problem_json.h"

namespace {

using namespace fuselage::grid;

struct Proposal {
  const Group* group = nullptr;
  Choice choice = {};
};

std::uint64_t resident_in(const State& state, const Group& group) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(64, group.inputs.size()); ++i)
    if (std::find(state.resident.begin(), state.resident.end(), group.inputs[i]) != state.resident.end())
      mask |= std::uint64_t{1} << i;
  return mask;
}

class Proposals {
 public:
  explicit Proposals(const GridProblem& problem) : problem_(problem) {
    for (const auto& plan : {problem.greedy(), problem.naive()}) {
      State state = problem.initial();
      for (const GridKernel& kernel : plan) {
        add_all(state);
        state = problem.apply(state, kernel);
      }
    }
  }
  std::vector<Proposal> take() && { return std::move(list_); }

 private:
  void add_all(const State& state) {
    declared_.clear();
    problem_.kernels(state, declared_);
    for (const GridKernel& kernel : declared_) {
      const std::uint64_t resident = resident_in(state, *kernel.group);
      if (!seen_.insert({kernel.group, resident, kernel.retained}).second) continue;
      const KernelPricer::Best best = problem_.groups().best(*kernel.group, resident, kernel.retained);
      if (best.cost.legal())
        list_.push_back({kernel.group, {best.granularity, best.traversal, resident, kernel.retained}});
    }
  }

  const GridProblem& problem_;
  std::vector<Proposal> list_;
  std::vector<GridKernel> declared_;
  std::set<std::tuple<const Group*, std::uint64_t, std::uint64_t>> seen_;
};

// A problem and what is proposed for it, set up when it is first measured.
class Case {
 public:
  explicit Case(Instance instance) : instance_(std::move(instance)) {}

  const GridProblem& problem() {
    if (!problem_) problem_ = std::make_unique<GridProblem>(instance_, Rules{});
    return *problem_;
  }
  const std::vector<Proposal>& proposals() {
    if (proposals_.empty()) proposals_ = Proposals(problem()).take();
    return proposals_;
  }

 private:
  Instance instance_;
  std::unique_ptr<GridProblem> problem_;
  std::vector<Proposal> proposals_;
};

// Calls `work` for every proposal; microseconds for each of them.
template <class Work>
double microseconds_each(const std::vector<Proposal>& proposals, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  for (const Proposal& proposal : proposals) work(proposal);
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
  return passed.count() / static_cast<double>(proposals.size());
}

// A pass over all proposals an iteration; the best one is what other load on the machine left alone.
template <class Work>
double measure(benchmark::State& state, const std::vector<Proposal>& proposals, const Work& work) {
  double best = std::numeric_limits<double>::infinity();
  for (auto _ : state) best = std::min(best, microseconds_each(proposals, work));
  state.counters["us_per_kernel"] = best;
  state.counters["kernels"] = static_cast<double>(proposals.size());
  return best;
}

void price(benchmark::State& state, Case& one) {
  const KernelPricer& pricer = one.problem().groups().pricer();
  const std::vector<Proposal>& proposals = one.proposals();
  const auto count = [&](const auto& holds) {
    return static_cast<double>(std::count_if(proposals.begin(), proposals.end(), holds));
  };
  const double best = measure(state, proposals, [&](const Proposal& p) {
    benchmark::DoNotOptimize(pricer.price(p.group->shape(), p.choice));
  });
  double run = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < 3; ++pass)
    run = std::min(run, microseconds_each(proposals, [&](const Proposal& p) {
                     benchmark::DoNotOptimize(pricer.simulate(p.group->shape(), p.choice));
                   }));
  state.counters["us_by_tiles"] = run;
  state.counters["times_by_tiles"] = run / best;
  state.counters["closed_shapes"] = count([](const Proposal& p) { return p.group->shape().closed(); });
  state.counters["ops"] = static_cast<double>(one.problem().instance().op_count());
}

// The shape is made anew: what a set of ops costs that no search has met yet, at a given granularity.
void shape_and_price(benchmark::State& state, Case& one) {
  const KernelPricer& pricer = one.problem().groups().pricer();
  measure(state, one.proposals(), [&](const Proposal& p) {
    const Shape shape(pricer.instance(), pricer.rules(), p.group->ops);
    benchmark::DoNotOptimize(pricer.price(shape, p.choice));
  });
}

// With the search for the cheapest granularity and traversal.
void best_granularity(benchmark::State& state, Case& one) {
  const KernelPricer& pricer = one.problem().groups().pricer();
  measure(state, one.proposals(), [&](const Proposal& p) {
    benchmark::DoNotOptimize(pricer.best(p.group->shape(), p.choice.resident, p.choice.retained));
  });
}

void register_case(const std::string& name, Instance instance) {
  const auto one = std::make_shared<Case>(std::move(instance));
  const auto add = [&](const char* what, void (*measured)(benchmark::State&, Case&)) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", what, name).c_str(), [one, measured](
                                                                               benchmark::State& state) {
      measured(state, *one);
    })->Unit(benchmark::kMicrosecond);
  };
  add("grid_price", price);
  add("grid_shape_and_price", shape_and_price);
  add("grid_best_granularity", best_granularity);
}

}  // namespace

void register_grid_cost(std::span<const std::string> files) {
  register_case("transformer_103", generate({.ops = 103, .seed = 17}));
  for (const std::string& file : files)
    register_case(std::filesystem::path(file).stem().string(), read_problem_file(file));
}

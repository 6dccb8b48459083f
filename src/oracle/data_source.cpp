#include "fuselage/oracle/data_source.h"

#include <fmt/format.h>

#include "fuselage/core/python_random.h"
#include "fuselage/walk/generator.h"

namespace fuselage::oracle {
namespace {

Workload draw_graph(const DrawnGraphs& drawn, std::uint64_t seed) {
  if (drawn.draw) return draw_workload(*drawn.draw, seed);
  PythonRandom random(seed);
  const double level = drawn.low + (drawn.high - drawn.low) * random.random();
  Workload workload = walk::generate_curriculum(level, random);
  workload.name += fmt::format("_t{}", seed);
  return workload;
}

}  // namespace

std::uint64_t seed_of_graph(std::uint64_t seed, std::size_t index) {
  search::SplitMix of_seed(seed);
  search::SplitMix own(of_seed.next() + index);
  return own.next() >> 11;
}

std::optional<LabelledGraph> WalkSource::label(std::size_t index, const std::atomic<bool>* cancel) const {
  LabelOptions options = options_.labels;
  options.seed = seed_of_graph(options_.labels.seed, index);
  options.budget.cancel = cancel;
  if (index >= options_.given.size()) return label_walk(draw_graph(options_.drawn, options.seed), options);
  const GivenGraph& given = options_.given[index];
  if (!given.played.empty() && !options_.mix_with_played) options.mix.clear();
  return label_walk(given.workload, options, given.played);
}

}  // namespace fuselage::oracle

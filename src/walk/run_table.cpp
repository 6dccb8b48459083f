#include "fuselage/walk/run_table.h"

#include <algorithm>
#include <cmath>

#include "fuselage/core/error.h"

namespace fuselage::walk {

double node_cycles(const Node& node, int tile) {
  const double area = static_cast<double>(tile) * tile;
  const double count = std::max(1.0, std::ceil(static_cast<double>(node.elements()) / area));
  switch (op_class(node.op)) {
    case OpClass::compute: {
      const double efficiency = std::min(1.0, tile / 128.0);
      return node.flops * (1.0 / std::sqrt(efficiency)) + count * (node.flops * 0.02);
    }
    case OpClass::reduction:
      return node.flops * (1.0 + 0.1 * std::max(0.0, 3.0 - count));
    case OpClass::pointwise:
      break;
  }
  return node.flops;
}

void RunTable::list_uses(const Graph& graph) {
  use_begin_.reserve(static_cast<std::size_t>(graph.size()) + 1);
  for (NodeId id = 0; id < graph.size(); ++id) {
    use_begin_.push_back(use_positions_.size());
    for (NodeId consumer : graph.consumers(id)) use_positions_.push_back(graph.position(consumer));
    std::sort(use_positions_.begin() + static_cast<std::ptrdiff_t>(use_begin_.back()), use_positions_.end());
  }
  use_begin_.push_back(use_positions_.size());
}

RunTable::RunTable(const Graph& graph, const Hardware& hardware) {
  const int n = graph.size();
  list_uses(graph);
  seen_in_.assign(static_cast<std::size_t>(n), 0);
  cycles_.resize(static_cast<std::size_t>(n));
  for (NodeId id = 0; id < n; ++id)
    for (std::size_t t = 0; t < tiles.size(); ++t)
      cycles_[static_cast<std::size_t>(id)][t] = node_cycles(graph.node(id), tiles[t]);
  begin_.reserve(static_cast<std::size_t>(n) + 1);
  for (int first = 0; first < n; ++first) {
    begin_.push_back(runs_.size());
    for (int count = 1; count <= std::max(1, hardware.max_fusion_depth) && first + count <= n; ++count) {
      const auto inputs = graph.inputs(graph.order()[static_cast<std::size_t>(first + count - 1)]);
      const bool connected =
          std::any_of(inputs.begin(), inputs.end(), [&](NodeId x) { return graph.position(x) >= first; });
      if (count > 1 && !connected) break;
      if (runs_.size() == most_runs)
        fail(
            "hardware.max_fusion_depth: {} makes more than {} kernels of this graph of {} nodes; expected a "
            "smaller depth",
            hardware.max_fusion_depth, most_runs, n);
      add_run(graph, first, count);
    }
  }
  begin_.push_back(runs_.size());
}

// Extends the run before it (the same start, one node less) by one node.
void RunTable::add_run(const Graph& graph, int first, int count) {
  Run run{.first = first, .count = count, .inputs_begin = pool_.size()};
  const NodeId added = graph.order()[static_cast<std::size_t>(run.end() - 1)];
  std::size_t old_outputs = 0;
  std::size_t old_end = 0;
  if (count > 1) {
    const Run& before = runs_.back();
    old_outputs = before.inputs_begin + static_cast<std::size_t>(before.input_count);
    old_end = old_outputs + static_cast<std::size_t>(before.output_count);
    for (std::size_t i = before.inputs_begin; i < old_outputs; ++i) pool_.push_back(pool_[i]);
    run.cycles = before.cycles;
  }
  // seen_in_ holds, for each tensor, the start (counted from 1) of the last runs that list it as an input.
  for (NodeId input : graph.inputs(added)) {
    std::size_t& seen = seen_in_[static_cast<std::size_t>(input)];
    if (graph.position(input) < first && seen != static_cast<std::size_t>(first) + 1) pool_.push_back(input);
    seen = static_cast<std::size_t>(first) + 1;
  }
  run.input_count = static_cast<int>(pool_.size() - run.inputs_begin);
  const auto leaves = [&](NodeId member) { return last_use(member) < 0 || last_use(member) >= run.end(); };
  for (std::size_t i = old_outputs; i < old_end; ++i)
    if (leaves(pool_[i])) pool_.push_back(pool_[i]);
  if (leaves(added)) pool_.push_back(added);
  run.output_count = static_cast<int>(pool_.size() - run.inputs_begin) - run.input_count;

  for (NodeId x : inputs(run)) run.input_bytes += graph.bytes(x);
  for (NodeId x : outputs(run)) run.output_bytes += graph.bytes(x);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    run.cycles[t] += cycles_[static_cast<std::size_t>(added)][t];
    for (NodeId x : inputs(run)) run.slices[t] += slice_bytes(graph.bytes(x), tiles[t]);
    for (NodeId x : outputs(run)) run.slices[t] += slice_bytes(graph.bytes(x), tiles[t]);
  }
  runs_.push_back(run);
}

}  // namespace fuselage::walk

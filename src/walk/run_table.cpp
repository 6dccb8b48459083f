#include "fuselage/walk/run_table.h"

#include <algorithm>
#include <cmath>

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

RunTable::RunTable(const Graph& graph, const Hardware& hardware) {
  const int n = graph.size();
  last_use_.assign(static_cast<std::size_t>(n), -1);
  seen_in_.assign(static_cast<std::size_t>(n), 0);
  cycles_.resize(static_cast<std::size_t>(n));
  for (NodeId id = 0; id < n; ++id) {
    const auto i = static_cast<std::size_t>(id);
    for (NodeId consumer : graph.consumers(id))
      last_use_[i] = std::max(last_use_[i], graph.position(consumer));
    for (std::size_t t = 0; t < tiles.size(); ++t) cycles_[i][t] = node_cycles(graph.node(id), tiles[t]);
  }
  begin_.reserve(static_cast<std::size_t>(n) + 1);
  for (int first = 0; first < n; ++first) {
    begin_.push_back(runs_.size());
    for (int count = 1; count <= std::max(1, hardware.max_fusion_depth) && first + count <= n; ++count) {
      const auto inputs = graph.inputs(graph.order()[static_cast<std::size_t>(first + count - 1)]);
      const bool connected =
          std::any_of(inputs.begin(), inputs.end(), [&](NodeId x) { return graph.position(x) >= first; });
      if (count > 1 && !connected) break;
      add_run(graph, first, count);
    }
  }
  begin_.push_back(runs_.size());
}

void RunTable::add_run(const Graph& graph, int first, int count) {
  Run run{.first = first, .count = count, .inputs_begin = pool_.size()};
  const auto members =
      graph.order().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  const std::size_t number = runs_.size() + 1;
  for (NodeId member : members) {
    for (NodeId input : graph.inputs(member)) {
      std::size_t& seen = seen_in_[static_cast<std::size_t>(input)];
      if (graph.position(input) < first && seen != number) pool_.push_back(input);
      seen = number;
    }
  }
  run.input_count = static_cast<int>(pool_.size() - run.inputs_begin);
  for (NodeId member : members)
    if (last_use(member) < 0 || last_use(member) >= run.end()) pool_.push_back(member);
  run.output_count = static_cast<int>(pool_.size() - run.inputs_begin) - run.input_count;

  for (NodeId x : inputs(run)) run.input_bytes += graph.bytes(x);
  for (NodeId x : outputs(run)) run.output_bytes += graph.bytes(x);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (NodeId member : members) run.cycles[t] += cycles_[static_cast<std::size_t>(member)][t];
    for (NodeId x : inputs(run)) run.slices[t] += slice_bytes(graph.bytes(x), tiles[t]);
    for (NodeId x : outputs(run)) run.slices[t] += slice_bytes(graph.bytes(x), tiles[t]);
  }
  runs_.push_back(run);
}

}  // namespace fuselage::walk

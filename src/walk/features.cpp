#include "fuselage/walk/features.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "feature_columns.h"

namespace fuselage::walk {
namespace {

bool holds(std::span<const NodeId> ids, NodeId x) {
  return std::find(ids.begin(), ids.end(), x) != ids.end();
}

NodeId node_at(const Graph& graph, int position) {
  return graph.order()[static_cast<std::size_t>(position)];
}

// Calls `visit` once for every tensor that the node reads.
template <class Visit>
void for_each_input(const Graph& graph, NodeId node, Visit visit) {
  const auto inputs = graph.inputs(node);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!holds(inputs.first(i), inputs[i])) visit(inputs[i]);
}

WorkloadFacts facts_of(const Graph& graph, const Hardware& hardware, const RunTable& runs) {
  constexpr auto tile_128 = static_cast<std::size_t>(tile_index(default_tile));
  WorkloadFacts facts;
  double compute = 0, transfer = 0, alone = 0, bytes = 0;
  for (int at = 0; at < graph.size(); ++at) {
    const Run& run = runs.run(at, 1);
    const double moved =
        hardware.transfer_cycles(run.input_bytes) + hardware.transfer_cycles(run.output_bytes);
    compute += run.cycles[tile_128];
    transfer += moved;
    alone += std::max(run.cycles[tile_128], moved) + hardware.kernel_launch_cost;
    bytes += static_cast<double>(run.output_bytes);
    facts.largest_bytes = std::max(facts.largest_bytes, static_cast<double>(run.output_bytes));
  }
  facts.nodes = graph.size();
  facts.mean_cycles = alone / facts.nodes;
  facts.memory_share = transfer > 0 ? transfer / (transfer + compute) : 0;
  facts.capacity = static_cast<double>(hardware.fast_mem_capacity);
  facts.mean_bytes = bytes / facts.nodes;
  facts.launch_cycles = hardware.kernel_launch_cost;
  facts.cycles_per_byte = hardware.slow_mem_bandwidth > 0 ? 1 / hardware.slow_mem_bandwidth : 0;
  facts.depth = hardware.max_fusion_depth;
  return facts;
}

// One token's input x; `at` is the token's position.
void add_input(TokenFacts& token, NodeId x, std::int64_t bytes, const KernelView& kernel, int at,
               std::span<const NodeId> resident, const RunTable& runs, bool inside) {
  const int uses_left = runs.uses_from(x, at + 1);
  token.input_uses_left += uses_left;
  token.slice_bytes += slice_bytes(bytes, tiles[static_cast<std::size_t>(kernel.tile)]);
  if (inside) {
    token.inside_bytes += bytes;
    if (uses_left == 0) token.absorbed_bytes += bytes;
    return;
  }
  const bool is_resident = holds(resident, x);
  if (is_resident && uses_left == 0) token.last_read_bytes += bytes;
  if (runs.next_use(x, kernel.first) < at) return;  // a member has read it
  (is_resident ? token.resident_bytes : token.loaded_bytes) += bytes;
  if (!is_resident && holds(kernel.retain, x)) token.kept_bytes += bytes;
}

}  // namespace

Features::Features(const Graph& graph, const Hardware& hardware, const RunTable& runs)
    : graph_(graph), runs_(runs), workload_(facts_of(graph, hardware, runs)) {
  const auto n = static_cast<std::size_t>(graph.size());
  live_bytes_.assign(n + 1, 0);
  flops_left_.assign(n + 1, 0);
  for (std::size_t at = n; at-- > 0;) {
    const NodeId node = graph.order()[at];
    flops_left_[at] = flops_left_[at + 1] + graph.node(node).flops;
    if (runs.last_use(node) < 0) continue;
    live_bytes_[at + 1] += graph.bytes(node);
    live_bytes_[static_cast<std::size_t>(runs.last_use(node)) + 1] -= graph.bytes(node);
  }
  std::partial_sum(live_bytes_.begin(), live_bytes_.end(), live_bytes_.begin());
  workload_.peak_bytes = static_cast<double>(*std::max_element(live_bytes_.begin(), live_bytes_.end()));
}

void Features::workload(std::span<float> row) const {
  assert(row.size() == workload_columns().size());
  fill_row(workload_columns(), workload_, row);
}

void Features::state(const Place& place, std::span<float> row) const {
  assert(row.size() == state_columns().size());
  const auto at = static_cast<std::size_t>(place.position);
  StateFacts facts = {.workload = &workload_,
                      .done = place.position,
                      .open = place.open,
                      .residents = static_cast<int>(place.resident.size()),
                      .live_bytes = live_bytes_[at],
                      .flops_left = flops_left_[0] > 0 ? flops_left_[at] / flops_left_[0] : 0};
  for (NodeId x : place.resident) {
    facts.resident_bytes += graph_.bytes(x);
    facts.resident_uses += runs_.uses_from(x, place.position);
  }
  if (place.position < graph_.size()) {
    const NodeId next = node_at(graph_, place.position);
    facts.next = &graph_.node(next);
    for_each_input(graph_, next, [&](NodeId x) {
      facts.next_input_bytes += graph_.bytes(x);
      if (holds(place.resident, x)) facts.next_resident_bytes += graph_.bytes(x);
    });
  }
  fill_row(state_columns(), facts, row);
}

void Features::tokens(const KernelView& kernel, std::span<const NodeId> resident,
                      std::span<float> rows) const {
  const std::size_t width = token_columns().size();
  assert(rows.size() == width * static_cast<std::size_t>(kernel.count));
  const auto tile = static_cast<std::size_t>(kernel.tile);
  std::int64_t held = 0;
  for (NodeId x : resident) held += graph_.bytes(x);
  for (int i = 0; i < kernel.count; ++i) {
    const int at = kernel.first + i;
    const NodeId id = node_at(graph_, at);
    const Node& node = graph_.node(id);
    const double area = static_cast<double>(tiles[tile]) * tiles[tile];
    const double elements = static_cast<double>(node.elements());
    TokenFacts token = {.workload = &workload_,
                        .node = &node,
                        .members = i + 1,
                        .tile = kernel.tile,
                        .retained = holds(kernel.retain, id),
                        .reads_previous = at > 0 && holds(node.inputs, node_at(graph_, at - 1)),
                        .uses = graph_.uses(id),
                        .slice_bytes = slice_bytes(node.output_bytes, tiles[tile]),
                        .held_bytes = held,
                        .tiled_cycles = runs_.cycles(id)[tile],
                        .tile_count = std::max(1.0, std::ceil(elements / area))};
    if (token.uses > 0) {
      token.next_use = runs_.next_use(id, at + 1) - at;
      token.last_use = runs_.last_use(id) - at;
    }
    for_each_input(graph_, id, [&](NodeId x) {
      const bool inside = graph_.position(x) >= kernel.first;
      add_input(token, x, graph_.bytes(x), kernel, at, resident, runs_, inside);
    });
    fill_row(token_columns(), token, rows.subspan(static_cast<std::size_t>(i) * width, width));
  }
}

}  // namespace fuselage::walk

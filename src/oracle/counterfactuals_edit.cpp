#include "counterfactuals_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fuselage/core/json.h"

namespace fuselage::oracle {
namespace {

using walk::Episode;

constexpr int lookahead = 2;  // nodes after the current one whose inputs the observation shows

// New capacities differ by quarters of the largest tensor: the environment's machines hold 2.5 to 6 of them.
constexpr std::array<std::int64_t, 16> capacity_steps = {-8, -7, -6, -5, -4, -3, -2, -1,
                                                         1,  2,  3,  4,  5,  6,  7,  8};
constexpr std::array<int, 4> depth_steps = {-2, -1, 1, 2};

bool may_have_two_inputs(Op op) {
  return op_class(op) == OpClass::compute || op == Op::add;
}

std::int64_t largest_tensor(const Graph& graph) {
  std::int64_t largest = 0;
  for (const Node& node : graph.nodes()) largest = std::max(largest, node.output_bytes);
  return largest;
}

bool reads(const Graph& graph, NodeId node, NodeId tensor) {
  const auto inputs = graph.inputs(node);
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

// What a decision here can be about: members of the open group, residents, the current node and its inputs.
std::vector<NodeId> tensors_at_stake(const Episode& episode) {
  std::vector<NodeId> ids(episode.group_nodes().begin(), episode.group_nodes().end());
  ids.insert(ids.end(), episode.resident().begin(), episode.resident().end());
  const NodeId current = episode.current_node();
  ids.push_back(current);
  const auto inputs = episode.context().graph().inputs(current);
  ids.insert(ids.end(), inputs.begin(), inputs.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Edges to the nodes at positions first..last-1.
std::vector<Edit> edge_edits(const Episode& episode, int first, int last, Edit::What what) {
  const Graph& graph = episode.context().graph();
  std::vector<Edit> edits;
  for (NodeId from : tensors_at_stake(episode)) {
    for (int position = std::max(first, graph.position(from) + 1); position < last; ++position) {
      const NodeId to = graph.order()[static_cast<std::size_t>(position)];
      const std::size_t inputs = graph.inputs(to).size();
      const bool fits = what == Edit::What::add_edge
                            ? !reads(graph, to, from) && inputs == 1 && may_have_two_inputs(graph.node(to).op)
                            : reads(graph, to, from) && inputs > 1;
      if (fits) edits.push_back({.what = what, .value = 0, .from = from, .to = to});
    }
  }
  return edits;
}

std::optional<Edit> draw_edge(const Episode& episode, int first, int last, search::SplitMix& random) {
  const std::vector<Edit> added = edge_edits(episode, first, last, Edit::What::add_edge);
  const std::vector<Edit> removed = edge_edits(episode, first, last, Edit::What::remove_edge);
  if (added.empty() && removed.empty()) return std::nullopt;
  const bool remove = added.empty() || (!removed.empty() && random.below(2) == 0);
  const std::vector<Edit>& edits = remove ? removed : added;
  return edits[random.below(edits.size())];
}

Graph with_edge_changed(const Graph& graph, const Edit& edit) {
  std::vector<Node> nodes(graph.nodes().begin(), graph.nodes().end());
  std::vector<NodeId>& inputs = nodes[static_cast<std::size_t>(edit.to)].inputs;
  if (edit.what == Edit::What::add_edge)
    inputs.push_back(edit.from);
  else
    inputs.erase(std::find(inputs.begin(), inputs.end(), edit.from));
  return Graph(std::move(nodes));
}

}  // namespace

std::optional<Workload> edited(const Workload& workload, const Edit& edit) {
  Workload result = workload;
  if (edit.what == Edit::What::capacity) {
    result.hardware.fast_mem_capacity = edit.value;
  } else if (edit.what == Edit::What::depth) {
    result.hardware.max_fusion_depth = static_cast<int>(edit.value);
  } else {
    result.graph = with_edge_changed(workload.graph, edit);
    if (!std::ranges::equal(result.graph.order(), workload.graph.order())) return std::nullopt;
  }
  return result;
}

std::optional<Edit> draw_edit(const Episode& episode, FactKind kind, search::SplitMix& random) {
  const Hardware& hardware = episode.context().hardware();
  const int beyond = episode.position() + lookahead + 1;
  const int size = episode.context().graph().size();
  if (kind == FactKind::uses) return draw_edge(episode, beyond, size, random);
  if (kind == FactKind::edge) return draw_edge(episode, episode.position(), std::min(beyond, size), random);
  if (kind == FactKind::depth) {
    const int depth = hardware.max_fusion_depth + depth_steps[random.below(depth_steps.size())];
    if (depth < 1) return std::nullopt;
    return Edit{.what = Edit::What::depth, .value = depth};
  }
  const std::int64_t quarter = largest_tensor(episode.context().graph()) / 4;
  const std::int64_t step = capacity_steps[random.below(capacity_steps.size())] * quarter;
  if (step > std::numeric_limits<std::int64_t>::max() - hardware.fast_mem_capacity) return std::nullopt;
  const std::int64_t capacity = hardware.fast_mem_capacity + step;
  if (capacity < 1 || capacity == hardware.fast_mem_capacity) return std::nullopt;
  return Edit{.what = Edit::What::capacity, .value = capacity};
}

Fact fact_of(const Episode& episode, FactKind kind, const Edit& edit) {
  const Hardware& hardware = episode.context().hardware();
  Fact fact{.kind = kind, .what = {}, .before = 0, .after = edit.value, .edit = {}};
  if (edit.what == Edit::What::capacity || edit.what == Edit::What::depth) {
    const bool capacity = edit.what == Edit::What::capacity;
    fact.what = capacity ? "capacity" : "max_fusion";
    fact.before = capacity ? hardware.fast_mem_capacity : hardware.max_fusion_depth;
    fact.edit = fmt::format("{} {} -> {}", capacity ? "fast_mem_capacity" : "max_fusion_depth", fact.before,
                            fact.after);
    return fact;
  }
  const bool added = edit.what == Edit::What::add_edge;
  const std::string edge = fmt::format("edge {} -> {}", edit.from, edit.to);
  fact.what = kind == FactKind::uses ? fmt::format("future_uses.{}", edit.from) : edge;
  fact.before = kind == FactKind::uses ? episode.remaining_uses(edit.from) : (added ? 0 : 1);
  fact.after = fact.before + (added ? 1 : -1);
  fact.edit = (added ? "add " : "remove ") + edge;
  return fact;
}

std::vector<std::string> stating_fields(const Episode& episode, FactKind kind, const Edit& edit) {
  if (kind == FactKind::capacity) return {"capacity"};
  if (kind == FactKind::depth) return {"max_fusion"};
  std::vector<std::string> fields = {fmt::format("future_uses.{}", edit.from)};
  if (kind == FactKind::uses) return fields;
  const int ahead = episode.context().graph().position(edit.to) - episode.position();
  if (episode.steps() == 0)
    fields.push_back(fmt::format("nodes[{}].inputs", edit.to));
  else if (ahead == 0)
    fields.emplace_back("current_node_info.inputs");
  else
    fields.push_back(fmt::format("lookahead[{}].inputs", ahead - 1));
  std::sort(fields.begin(), fields.end());
  return fields;
}

}  // namespace fuselage::oracle

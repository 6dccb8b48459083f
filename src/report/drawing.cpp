#include "fuselage/report/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fuselage/core/figures.h"
#include "fuselage/report/label.h"

namespace fuselage::report {
namespace {

constexpr std::size_t longest_name = 18;  // characters that fit into a node

// Within double quotes: dot reads backslashes as escapes, and entities of HTML.
std::string dot_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    c == '&' ? out += "&amp;" : out += c;
  }
  return out;
}

// dot's time grows without end on graphs of hundreds of nodes with long edges unless its search is limited.
std::string search_limit(std::size_t nodes) {
  constexpr std::size_t many = 300;
  return nodes > many ? "  nslimit=1; nslimit1=1; mclimit=0.5;\n" : "";
}

// Ops whose output stays in fast memory have a bold border.
bool is_retained(const Op& op, const Schedule& schedule, int kernel) {
  if (kernel == no_kernel) return false;
  const std::vector<TensorId>& retained = schedule.kernels[static_cast<std::size_t>(kernel)].retain;
  return std::ranges::any_of(op.outputs, [&](TensorId id) { return std::ranges::count(retained, id) > 0; });
}

std::string node_line(const Subject& subject, const Schedule& schedule, const DrawnNode& node,
                      std::size_t number) {
  const Op& op = subject.ops[static_cast<std::size_t>(node.op)];
  const std::string name = dot_text(label_of(op.name, longest_name));
  return fmt::format("n{} [label=\"{} {}{}{}\"{}];\n", number, node.op, dot_text(op.kind),
                     name.empty() ? "" : "\\n", name,
                     is_retained(op, schedule, node.kernel) ? ", penwidth=2" : "");
}

std::string kernel_text(const Schedule& schedule, std::size_t number) {
  const Kernel& kernel = schedule.kernels[number];
  return fmt::format("kernel {}: {}\\ltile {}, {}\\l", number, cycles(kernel.latency), kernel.tile,
                     kernel.bound);
}

constexpr const char* style =
    "  rankdir=TB; ranksep=0.3; nodesep=0.15; fontname=\"sans-serif\"; fontsize=10; labeljust=l; "
    "style=rounded;\n"
    "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fixedsize=true, width=1.5, height=0.5, "
    "fontname=\"sans-serif\", "
    "fontsize=10];\n"
    "  edge [arrowsize=0.5];\n";

}  // namespace

DrawnGraph drawn_graph(const Subject& subject, const Schedule& schedule) {
  DrawnGraph graph;
  std::map<OpId, int> last;  // node of the last kernel so far that runs it
  std::vector<bool> runs(subject.ops.size(), false);
  const auto add_node = [&](OpId op, int kernel) {
    last[op] = static_cast<int>(graph.nodes.size());
    graph.nodes.push_back({.op = op, .kernel = kernel});
  };
  const auto add_edges = [&](OpId op) {
    const int to = last.at(op);
    for (const TensorId tensor : subject.ops[static_cast<std::size_t>(op)].inputs) {
      const auto producer = subject.tensors[static_cast<std::size_t>(tensor)].producer;
      if (!producer) continue;
      if (const auto from = last.find(*producer); from != last.end())
        graph.edges.push_back({.from = from->second, .to = to, .tensor = tensor});
    }
  };
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    for (const OpId op : schedule.kernels[k].ops) {
      add_node(op, static_cast<int>(k));
      runs[static_cast<std::size_t>(op)] = true;
    }
    for (const OpId op : schedule.kernels[k].ops) add_edges(op);
  }
  std::vector<OpId> idle;
  for (OpId op = 0; op < static_cast<OpId>(runs.size()); ++op)
    if (!runs[static_cast<std::size_t>(op)]) idle.push_back(op);
  for (const OpId op : idle) add_node(op, no_kernel);
  for (const OpId op : idle) add_edges(op);
  return graph;
}

std::string dot_of(const Subject& subject, const Schedule& schedule) {
  const DrawnGraph graph = drawn_graph(subject, schedule);
  std::string text = "digraph schedule {\n";
  text += style + search_limit(graph.nodes.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    if (schedule.kernels[k].ops.empty()) continue;
    text += fmt::format("  subgraph cluster_{} {{\n    label=\"{}\"; bgcolor=\"/pastel19/{}\";\n", k,
                        kernel_text(schedule, k), k % 9 + 1);
    for (; next < graph.nodes.size() && graph.nodes[next].kernel == static_cast<int>(k); ++next)
      text += "    " + node_line(subject, schedule, graph.nodes[next], next);
    text += "  }\n";
  }
  for (; next < graph.nodes.size(); ++next)
    text += "  " + node_line(subject, schedule, graph.nodes[next], next);
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    text += fmt::format("  n{} -> n{} [id=e{}];\n", graph.edges[e].from, graph.edges[e].to, e);
  return text + "}\n";
}

std::string overview_dot_of(const Subject& subject, const Schedule& schedule) {
  const DrawnGraph graph = drawn_graph(subject, schedule);
  std::string text = "digraph kernels {\n";
  text += style + search_limit(schedule.kernels.size());
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k)
    text += fmt::format("  k{} [label=\"{}\"];\n", k, kernel_text(schedule, k));
  std::size_t id = 0;
  for (const auto& [from, to] : kernel_edges(graph))
    text += fmt::format("  k{} -> k{} [id=e{}];\n", from, to, id++);
  return text + "}\n";
}

std::vector<std::pair<int, int>> kernel_edges(const DrawnGraph& graph) {
  std::set<std::pair<int, int>> edges;
  for (const DrawnEdge& edge : graph.edges) {
    const int from = graph.nodes[static_cast<std::size_t>(edge.from)].kernel;
    const int to = graph.nodes[static_cast<std::size_t>(edge.to)].kernel;
    if (from != no_kernel && to != no_kernel && from != to) edges.emplace(from, to);
  }
  return {edges.begin(), edges.end()};
}

}  // namespace fuselage::report

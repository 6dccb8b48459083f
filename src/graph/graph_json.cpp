#include "fuselage/graph/graph_json.h"

#include <array>
#include <filesystem>
#include <set>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

constexpr std::int64_t max_int64 = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 7> node_fields = {"id",    "op",           "shape", "inputs",
                                                         "flops", "output_bytes", "name"};
constexpr std::array<std::string_view, 2> graph_fields = {"nodes", "hardware"};
constexpr std::array<std::string_view, 3> named_graph_fields = {"name", "nodes", "hardware"};
constexpr std::array<std::string_view, 8> task_fields = {
    "name", "graph", "config", "topo_order", "greedy_latency", "naive_latency", "greedy_repr", "naive_repr"};

Op read_op(const JsonField& field) {
  const std::optional<Op> op = parse_op(field.string());
  if (!op) field.refuse("is no known op", fmt::format("one of {}", join_names(op_names)));
  return *op;
}

std::pair<std::int64_t, std::int64_t> read_shape(const JsonField& field) {
  if (field.array_size() != 2) field.refuse("is no shape", "[height, width]");
  const std::int64_t height = field.element(0).integer(1);
  const std::int64_t width = field.element(1).integer(1);
  if (height > max_int64 / 4 / width)
    field.refuse("overflows", fmt::format("height * width * 4 <= {} bytes", max_int64));
  return {height, width};
}

std::vector<NodeId> read_inputs(const JsonField& field, NodeId id, NodeId n) {
  std::vector<NodeId> inputs;
  const std::size_t count = field.array_size();
  inputs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const JsonField element = field.element(i);
    const std::int64_t input = element.integer(std::numeric_limits<std::int64_t>::min());
    if (input < 0 || input >= n) element.refuse("names no node", fmt::format("ids from 0 to {}", n - 1));
    if (input == id) element.refuse("is the node itself", "the id of another node");
    inputs.push_back(static_cast<NodeId>(input));
  }
  return inputs;
}

Node read_node(const JsonField& field, NodeId id, NodeId n) {
  const auto [height, width] = read_shape(field.required("shape"));
  Node node = derived_node(read_op(field.required("op")), height, width,
                           read_inputs(field.required("inputs"), id, n));
  if (const auto flops = field.optional("flops")) node.flops = flops->number(0, max_cycles);
  if (const auto bytes = field.optional("output_bytes")) node.output_bytes = bytes->integer(0);
  return node;
}

std::vector<Node> read_nodes(const JsonField& field) {
  const std::size_t count = field.array_size();
  if (count == 0) field.refuse("is an empty graph", "at least one node");
  const auto n = static_cast<NodeId>(count);  // JsonLimits::max_values fits
  std::vector<Node> nodes(count);
  std::vector<std::size_t> listed_at(count, count);  // by id; count: not yet
  std::int64_t total = 0;                            // bytes of all tensors
  for (std::size_t i = 0; i < count; ++i) {
    const JsonField node = field.element(i);
    node.only(node_fields);
    const JsonField id_field = node.required("id");
    const std::int64_t id = id_field.integer(std::numeric_limits<std::int64_t>::min());
    if (id < 0 || id >= n)
      id_field.refuse("leaves a gap", fmt::format("each id from 0 to {} once, for {} nodes", n - 1, n));
    std::size_t& place = listed_at[static_cast<std::size_t>(id)];
    if (place != count)
      id_field.refuse(fmt::format("is the id of nodes[{}] too", place),
                      fmt::format("each id from 0 to {} once", n - 1));
    place = i;
    Node& read = nodes[static_cast<std::size_t>(id)];
    read = read_node(node, static_cast<NodeId>(id), n);
    if (read.output_bytes > Graph::max_total_bytes - total)
      node.refuse(
          fmt::format("output_bytes: with {} B of this node all tensors take more than {} B; expected less",
                      read.output_bytes, Graph::max_total_bytes));
    total += read.output_bytes;
  }
  return nodes;
}

// By id; empty if no node has one. The nodes have been read, so that their ids are good.
std::vector<std::string> read_node_names(const JsonField& field) {
  const std::size_t count = field.array_size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const JsonField node = field.element(i);
    if (!node.has("name")) continue;
    names.resize(count);
    names[static_cast<std::size_t>(node.required("id").integer(0))] = node.required("name").string();
  }
  return names;
}

// Only cycles are left for the graph itself to find.
Graph make_graph(const JsonField& at, std::vector<Node> nodes) {
  try {
    return Graph(std::move(nodes));
  } catch (const Error& error) {
    at.refuse(error.what());
  }
}

Workload read_graph_of_fields(const JsonField& at, std::string name, const std::optional<Hardware>& given) {
  if (!given && !at.has("hardware"))
    at.refuse("\"hardware\" is missing; expected it beside \"nodes\", or given separately (--hardware FILE)");
  std::optional<Hardware> hardware;
  if (const auto field = at.optional("hardware")) hardware = read_hardware(*field);
  if (given) hardware = given;
  return {.name = std::move(name),
          .graph = make_graph(at, read_nodes(at.required("nodes"))),
          .hardware = *hardware,
          .node_names = read_node_names(at.required("nodes"))};
}

// Forms (a) and (b).
Workload read_workload(const JsonField& at, std::string name, const std::optional<Hardware>& hardware) {
  if (at.has("graph")) {
    at.only(task_fields);
    if (const auto field = at.optional("name")) name = read_name(*field);
    return read_graph(at.required("graph"), std::move(name), hardware);
  }
  at.only(named_graph_fields);
  if (const auto field = at.optional("name")) name = read_name(*field);
  return read_graph_of_fields(at, std::move(name), hardware);
}

bool has_any(const Json& json, std::span<const std::string_view> fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](std::string_view field) { return json.contains(field); });
}

// Form (c): no field of (a) or (b), but objects under names.
bool is_map_of_tasks(const Json& json) {
  return !json.empty() && json.begin()->is_object() && !has_any(json, task_fields) &&
         !has_any(json, graph_fields);
}

constexpr std::size_t max_name_bytes = 100;

std::string name_rule() {
  return fmt::format("1 to {} bytes without slashes, control characters or a leading dot", max_name_bytes);
}

std::string name_of_source(const std::string& source) {
  const std::string stem = std::filesystem::path(source).stem().string();
  return is_name(stem) ? stem : "graph";
}

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

struct Line {
  std::size_t number;  // from 1
  std::string_view text;
};

// The first `limit` lines that aren't blank.
std::vector<Line> lines_of(std::string_view text, std::size_t limit) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty() && lines.size() < limit; ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto line = trimmed(text.substr(0, end)); !line.empty()) lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// In one JSON value a line that begins with { and ends with } can't be followed by a line that begins with {.
bool is_json_lines(std::string_view text) {
  const std::vector<Line> lines = lines_of(text, 2);
  return lines.size() == 2 && lines[0].text.front() == '{' && lines[0].text.back() == '}' &&
         lines[1].text.front() == '{';
}

std::vector<Workload> read_lines(std::string_view text, const std::string& source,
                                 const std::optional<Hardware>& hardware) {
  std::vector<Workload> workloads;
  for (const Line& line : lines_of(text, text.size())) {
    const Json json = parse_json(line.text, source, {.object_only = true, .first_line = line.number});
    const std::string line_source = fmt::format("{}:{}", source, line.number);
    std::string name = fmt::format("{}-{}", name_of_source(source), line.number);
    workloads.push_back(read_workload(JsonField(json, line_source), std::move(name), hardware));
  }
  return workloads;
}

std::vector<Workload> read_value(std::string_view text, const std::string& source,
                                 const std::optional<Hardware>& hardware) {
  const Json json = parse_json(text, source, {.object_only = true});
  const JsonField root(json, source);
  std::vector<Workload> workloads;
  if (!is_map_of_tasks(json)) {
    workloads.push_back(read_workload(root, name_of_source(source), hardware));
    return workloads;
  }
  for (const auto& [name, task] : json.get_ref<const Json::object_t&>()) {
    const JsonField field = root.required(name);
    if (!is_name(name)) field.refuse(fmt::format("{} is no name; expected {}", quote(name), name_rule()));
    field.only(task_fields);
    workloads.push_back(read_graph(field.required("graph"), name, hardware));
  }
  return workloads;
}

}  // namespace

bool is_name(std::string_view text) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '/' && c != '\\' && c != 127;
  };
  return !text.empty() && text.size() <= max_name_bytes && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_plain);
}

std::string read_name(const JsonField& field) {
  if (!is_name(field.string())) field.refuse("is no name", name_rule());
  return field.string();
}

Workload read_graph(const JsonField& graph, std::string name, const std::optional<Hardware>& hardware) {
  graph.only(graph_fields);
  return read_graph_of_fields(graph, std::move(name), hardware);
}

std::vector<Workload> read_workloads(std::string_view text, const std::string& source,
                                     const std::optional<Hardware>& hardware) {
  std::vector<Workload> workloads =
      is_json_lines(text) ? read_lines(text, source, hardware) : read_value(text, source, hardware);
  std::set<std::string_view> names;
  for (const Workload& workload : workloads)
    if (!names.insert(workload.name).second)
      fail("{}: name: {} names two graphs; expected each name once", source, quote(workload.name));
  return workloads;
}

}  // namespace fuselage

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"

namespace fuselage {
namespace {

std::string node_to_json(const Workload& workload, NodeId id) {
  const Node& node = workload.graph.node(id);
  std::string text = fmt::format(
      R"({{"id": {}, "op": "{}", "shape": [{}, {}], "inputs": [{}], "flops": {}, "output_bytes": {})", id,
      name(node.op), node.height, node.width, fmt::join(node.inputs, ", "), json_number(node.flops),
      node.output_bytes);
  if (!workload.node_names.empty() && !workload.node_names[static_cast<std::size_t>(id)].empty())
    text += fmt::format(R"(, "name": {})", json_string(workload.node_names[static_cast<std::size_t>(id)]));
  return text + '}';
}

std::string nodes_to_json(const Workload& workload, std::string_view before_each,
                          std::string_view before_end) {
  std::string text = "[";
  for (NodeId id = 0; id < workload.graph.size(); ++id) {
    text += id == 0 ? "" : ",";
    text += before_each;
    text += node_to_json(workload, id);
  }
  text += before_end;
  return text + "]";
}

std::string name_field(const Workload& workload, std::string_view indent, std::string_view after) {
  if (workload.name.empty()) return {};
  return fmt::format("{}\"name\": {},{}", indent, json_string(workload.name), after);
}

std::string graph_fields_to_json(const Workload& workload, std::string_view indent) {
  return fmt::format("{0}  \"nodes\": {1},\n{0}  \"hardware\": {2}\n", indent,
                     nodes_to_json(workload, fmt::format("\n{}    ", indent), fmt::format("\n{}  ", indent)),
                     hardware_to_json(workload.hardware));
}

}  // namespace

std::string workload_to_json(const Workload& workload) {
  return "{\n" + name_field(workload, "  ", "\n") + graph_fields_to_json(workload, "") + "}\n";
}

std::string workload_to_json_line(const Workload& workload) {
  return fmt::format("{{{}\"nodes\": {}, \"hardware\": {}}}\n", name_field(workload, "", " "),
                     nodes_to_json(workload, "", ""), hardware_to_json(workload.hardware));
}

std::string graph_to_json(const Workload& workload, std::string_view indent) {
  return fmt::format("{{\n{}{}}}", graph_fields_to_json(workload, indent), indent);
}

}  // namespace fuselage

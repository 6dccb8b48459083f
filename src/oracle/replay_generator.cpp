// The rows that say how a graph is made: calls of the generator, and the fixed tasks.

#include <algorithm>
#include <array>

#include "fuselage/core/error.h"
#include "fuselage/core/python_random.h"
#include "fuselage/walk/baseline.h"
#include "fuselage/walk/tasks.h"
#include "replay_kinds.h"

namespace fuselage::oracle {
namespace {

constexpr std::array<std::string_view, 6> call_fields = {"kind",  "args",     "nodes",
                                                         "shape", "hardware", "next_random"};
constexpr std::array<std::string_view, 7> training_fields = {"kind",  "seed",     "level",      "nodes",
                                                             "shape", "hardware", "next_random"};
constexpr std::array<std::string_view, 5> argument_fields = {"num_ops", "difficulty", "topology", "seed",
                                                             "shape"};
constexpr std::array<std::string_view, 4> hardware_fields = {"fast_mem_capacity", "slow_mem_bandwidth",
                                                             "kernel_launch_cost", "max_fusion_depth"};
constexpr std::array<std::string_view, 7> task_fields = {
    "config", "graph", "topo_order", "greedy_latency", "naive_latency", "greedy_repr", "naive_repr"};
constexpr std::array<std::string_view, 7> config_fields = {"num_ops", "difficulty",  "seed",     "topology",
                                                           "shape",   "description", "max_steps"};
constexpr std::array<std::string_view, 2> graph_fields = {"nodes", "hardware"};
constexpr std::array<std::string_view, 6> node_fields = {"id",     "op",    "shape",
                                                         "inputs", "flops", "output_bytes"};

// Numbers hold 64 bits at most, so the digits come from the text of the row. Nothing else in it can be called
// "seed": its fields are known and so are their texts.
std::string seed_text(const JsonField& seed, std::string_view line) {
  constexpr std::string_view key = "\"seed\"";
  std::string_view rest = line.substr(std::min(line.find(key), line.size()));
  rest.remove_prefix(std::min(key.size(), rest.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(": \t\r\n"), rest.size()));
  const std::string_view token = rest.substr(0, rest.find_first_of(",} \t\r\n"));
  if (token.empty() || token.find_first_not_of("-0123456789") != std::string_view::npos)
    seed.refuse("is no seed", "an integer of any size");
  return std::string(token);
}

walk::GenerateOptions read_arguments(const JsonField& args) {
  walk::GenerateOptions options;
  options.num_ops = static_cast<int>(args.required("num_ops").integer(1, walk::max_generated_ops));
  const JsonField difficulty = args.required("difficulty");
  const auto parsed = walk::parse_difficulty(difficulty.string());
  if (!parsed)
    difficulty.refuse("is no difficulty", fmt::format("one of {}", join_names(walk::difficulty_names)));
  options.difficulty = *parsed;
  if (const JsonField topology = args.required("topology"); !topology.is_null()) {
    const auto known = walk::parse_topology(topology.string());
    if (!known)
      topology.refuse("is no topology", fmt::format("null or one of {}", join_names(walk::topology_names)));
    options.topology = *known;
  }
  if (const JsonField shape = args.required("shape"); !shape.is_null()) {
    if (shape.array_size() != 2) shape.refuse("is no shape", "null or [height, width]");
    options.height = shape.element(0).integer(1);
    options.width = shape.element(1).integer(1);
  }
  return options;
}

Workload draw(const JsonField& row, PythonRandom& random) {
  if (row.required("kind").string() == "training")
    return walk::generate_curriculum(row.required("level").number(0, 1), random);
  const JsonField args = row.required("args");
  const walk::GenerateOptions options = read_arguments(args);
  try {
    return walk::generate(options, random);
  } catch (const Error& error) {
    args.refuse(error.what());
  }
}

void check_shape(const JsonField& shape, const Node& node, RowCheck& check) {
  if (shape.array_size() != 2) shape.refuse("is no shape", "[height, width]");
  check.integer(shape.element(0), node.height);
  check.integer(shape.element(1), node.width);
}

void check_hardware(const JsonField& recorded, const Hardware& hardware, RowCheck& check) {
  recorded.only(hardware_fields);
  check.integer(recorded.required("fast_mem_capacity"), hardware.fast_mem_capacity);
  check.number(recorded.required("slow_mem_bandwidth"), hardware.slow_mem_bandwidth);
  check.number(recorded.required("kernel_launch_cost"), hardware.kernel_launch_cost);
  check.integer(recorded.required("max_fusion_depth"), hardware.max_fusion_depth);
}

// How many nodes can be compared? A difference in their number is noted.
NodeId check_size(const JsonField& nodes, const Graph& graph, RowCheck& check) {
  const std::size_t count = nodes.array_size();
  const auto size = static_cast<std::size_t>(graph.size());
  check.expect(count == size, nodes, fmt::format("expected {} nodes, got {}", count, size));
  return static_cast<NodeId>(std::min(count, size));
}

// Nodes as [op, [inputs]], all of one shape.
void check_drawn_nodes(const JsonField& row, const Graph& graph, RowCheck& check) {
  const JsonField nodes = row.required("nodes");
  const NodeId count = check_size(nodes, graph, check);
  for (NodeId id = 0; id < count; ++id) {
    const JsonField node = nodes.element(static_cast<std::size_t>(id));
    if (node.array_size() != 2) node.refuse("is no node", "[op, [inputs]]");
    check.text(node.element(0), name(graph.node(id).op));
    check.ids(node.element(1), graph.inputs(id));
    check_shape(row.required("shape"), graph.node(id), check);
  }
}

void check_nodes(const JsonField& nodes, const Graph& graph, RowCheck& check) {
  const NodeId count = check_size(nodes, graph, check);
  for (NodeId id = 0; id < count; ++id) {
    const JsonField recorded = nodes.element(static_cast<std::size_t>(id));
    const Node& node = graph.node(id);
    recorded.only(node_fields);
    check.integer(recorded.required("id"), id);
    check.text(recorded.required("op"), name(node.op));
    check_shape(recorded.required("shape"), node, check);
    check.ids(recorded.required("inputs"), node.inputs);
    check.number(recorded.required("flops"), node.flops);
    check.integer(recorded.required("output_bytes"), node.output_bytes);
  }
}

void check_config(const JsonField& config, const walk::TaskSpec& task, RowCheck& check) {
  config.only(config_fields);
  const bool mixed = task.options.topology == walk::Topology::mixed;
  check.integer(config.required("num_ops"), task.options.num_ops);
  check.text(config.required("difficulty"), name(task.options.difficulty));
  check.integer(config.required("seed"), static_cast<std::int64_t>(task.seed));
  check.text_or_null(config.required("topology"),
                     mixed ? std::nullopt : std::optional<std::string_view>(name(task.options.topology)));
  check_shape(config.required("shape"), derived_node(Op::matmul, task.options.height, task.options.width, {}),
              check);
  config.required("description").string();  // words, which everyone chooses for themselves
  check.integer(config.required("max_steps"), task.max_steps);
}

}  // namespace

void replay_generator(const JsonField& row, std::string_view line, RowCheck& check) {
  const JsonField kind = row.required("kind");
  const bool training = kind.string() == "training";
  if (!training && kind.string() != "generate_graph")
    kind.refuse("is no kind of call", "\"generate_graph\" or \"training\"");
  training ? row.only(training_fields) : row.only(call_fields);
  const JsonField caller = training ? row : row.required("args");
  if (!training) caller.only(argument_fields);

  PythonRandom random(seed_text(caller.required("seed"), line));
  const Workload drawn = draw(row, random);
  check_drawn_nodes(row, drawn.graph, check);
  check_hardware(row.required("hardware"), drawn.hardware, check);
  check.number(row.required("next_random"), random.random());
}

void replay_task(const JsonField& recorded, std::string_view name, RowCheck& check) {
  recorded.only(task_fields);
  const auto task = walk::find_task(name);
  if (!task)
    return check.differs(recorded, "expected one of the five tasks, got a name that is none of theirs");
  const Workload workload = walk::make_task(*task);
  const double greedy = walk::greedy(workload.graph, workload.hardware).latency;
  const double naive = walk::naive_latency(workload.graph, workload.hardware);
  const JsonField graph = recorded.required("graph");
  graph.only(graph_fields);
  check_config(recorded.required("config"), *task, check);
  check_nodes(graph.required("nodes"), workload.graph, check);
  check_hardware(graph.required("hardware"), workload.hardware, check);
  check.ids(recorded.required("topo_order"), workload.graph.order());
  check.number(recorded.required("greedy_latency"), greedy);
  check.number(recorded.required("naive_latency"), naive);
  check.text(recorded.required("greedy_repr"), json_number(greedy));
  check.text(recorded.required("naive_repr"), json_number(naive));
}

}  // namespace fuselage::oracle

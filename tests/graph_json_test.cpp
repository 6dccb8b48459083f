#include "fuselage/graph/graph_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/grid/fusionops.h"

namespace fuselage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string hardware_text =
    R"({"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8.5, "kernel_launch_cost": 100, "max_fusion_depth": 3})";
constexpr Hardware hardware_value = {65536, 8.5, 100, 3};

std::string graph_text(const std::string& nodes, const std::string& hardware = hardware_text) {
  return fmt::format("{{\"nodes\": [{}], \"hardware\": {}}}", nodes, hardware);
}

const std::string node0 = R"({"id": 0, "op": "matmul", "shape": [4, 8], "inputs": []})";
const std::string node1 =
    R"({"id": 1, "op": "add", "shape": [4, 8], "inputs": [0, 0], "flops": 2.5, "output_bytes": 64.0})";

std::string read_error(const std::string& text) {
  return error_of([&] { read_workloads(text, "g.json"); });
}

std::vector<std::string> names(const std::vector<Workload>& workloads) {
  std::vector<std::string> names;
  for (const Workload& workload : workloads) names.push_back(workload.name);
  return names;
}

TEST(GraphJson, ReadsAGraphAndDerivesWhatIsLeftOut) {
  const auto workloads = read_workloads(graph_text(node1 + ", " + node0), "dir/my graph.json");
  ASSERT_EQ(workloads.size(), 1U);
  EXPECT_EQ(workloads[0].name, "my graph");
  EXPECT_EQ(workloads[0].hardware, hardware_value);
  const Graph& graph = workloads[0].graph;
  ASSERT_EQ(graph.size(), 2);
  EXPECT_EQ(graph.node(0).op, Op::matmul);
  EXPECT_EQ(graph.node(0).height, 4);
  EXPECT_EQ(graph.node(0).width, 8);
  EXPECT_EQ(graph.node(0).flops, 4.0 * 8 * 4);
  EXPECT_EQ(graph.node(0).output_bytes, 4 * 8 * 4);
  EXPECT_THAT(graph.node(1).inputs, ElementsAre(0, 0));
  EXPECT_EQ(graph.node(1).flops, 2.5);
  EXPECT_EQ(graph.node(1).output_bytes, 64);
}

TEST(GraphJson, ReadsEveryForm) {
  const std::string graph = graph_text(node0);
  const std::string named = graph_text(node0).replace(0, 1, "{\"name\": \"n1\", ");
  const std::string task = fmt::format(
      R"({{"name": "n2", "config": {{"seed": 1}}, "graph": {}, "greedy_latency": 1.5, "naive_latency": 2}})",
      graph);
  EXPECT_THAT(names(read_workloads(graph, "g.json")), ElementsAre("g"));
  EXPECT_THAT(names(read_workloads(named, "g.json")), ElementsAre("n1"));
  EXPECT_THAT(names(read_workloads(task, "g.json")), ElementsAre("n2"));
  const std::string map = fmt::format(R"({{"b": {{"graph": {0}}}, "a": {{"graph": {0}}}}})", graph);
  EXPECT_THAT(names(read_workloads(map, "g.json")), ElementsAre("a", "b"));
  EXPECT_THAT(names(read_workloads("\n" + named + "\r\n\n" + task + "\n" + graph, "g.jsonl")),
              ElementsAre("n1", "n2", "g-5"));
  EXPECT_THAT(names(read_workloads(graph + "\n", "stdin")), ElementsAre("stdin"));
}

TEST(GraphJson, HardwareFromOutsideWins) {
  const Hardware other = {1, 2, 3, 4};
  EXPECT_EQ(read_workloads(graph_text(node0), "g.json", other)[0].hardware, other);
  const std::string bare = fmt::format("{{\"nodes\": [{}]}}", node0);
  EXPECT_EQ(read_workloads(bare, "g.json", other)[0].hardware, other);
  EXPECT_THAT(read_error(bare),
              AllOf(StartsWith("g.json: "), HasSubstr("\"hardware\" is missing"), HasSubstr("--hardware")));
  EXPECT_THAT(error_of([&] { read_workloads(graph_text(node0, "{}"), "g.json", other); }),
              HasSubstr("hardware.fast_mem_capacity: this field is missing"))
      << "a bad field is an error also where it would not be used";
}

TEST(GraphJson, WritesAndReadsBack) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Node> nodes;
    const int n = 1 + static_cast<int>(random() % 20);
    for (int id = 0; id < n; ++id) {
      Node node = derived_node(static_cast<Op>(random() % 9), 1 + static_cast<int>(random() % 300), 7, {});
      for (int i = 0; i < 3 && id > 0; ++i)
        node.inputs.push_back(static_cast<NodeId>(random() % static_cast<unsigned>(id)));
      node.flops = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 80));
      nodes.push_back(node);
    }
    const Workload workload = {
        .name = "a \"name\"", .graph = Graph(nodes), .hardware = {1 << 20, 1.0 / 3, 0.1, 8}};
    for (const std::string& text : {workload_to_json(workload), workload_to_json_line(workload)}) {
      const Workload read = std::move(read_workloads(text, "g.json")[0]);
      EXPECT_EQ(workload_to_json(read), workload_to_json(workload));
      EXPECT_EQ(read.hardware, workload.hardware);
      ASSERT_EQ(read.graph.size(), n);
      for (int id = 0; id < n; ++id) {
        EXPECT_EQ(read.graph.node(id).flops, nodes[static_cast<std::size_t>(id)].flops);
        EXPECT_EQ(read.graph.node(id).inputs, nodes[static_cast<std::size_t>(id)].inputs);
      }
    }
  }
}

TEST(GraphJson, WritesOneNodePerLine) {
  const Workload workload = std::move(read_workloads(graph_text(node0 + "," + node1), "g.json")[0]);
  EXPECT_EQ(workload_to_json(workload), R"({
  "name": "g",
  "nodes": [
    {"id": 0, "op": "matmul", "shape": [4, 8], "inputs": [], "flops": 128.0, "output_bytes": 128},
    {"id": 1, "op": "add", "shape": [4, 8], "inputs": [0, 0], "flops": 2.5, "output_bytes": 64}
  ],
  "hardware": {"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8.5, "kernel_launch_cost": 100.0, "max_fusion_depth": 3}
}
)");
  const std::string line = workload_to_json_line(workload);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
}

TEST(GraphJson, KeepsTheNamesOfNodes) {
  const std::string odd = R"("name": "</script> \"q\" \u202e\n")";
  const std::string text = graph_text(node0 + "," + node1);
  EXPECT_TRUE(read_workloads(text, "g.json")[0].node_names.empty());
  std::string named = text;
  named.insert(named.find("\"id\": 1"), odd + ", ");
  const Workload workload = std::move(read_workloads(named, "g.json")[0]);
  EXPECT_EQ(workload.node_names, (std::vector<std::string>{"", "</script> \"q\" \u202e\n"}));
  for (const std::string& written : {workload_to_json(workload), workload_to_json_line(workload)})
    EXPECT_EQ(read_workloads(written, "g.json")[0].node_names, workload.node_names);
  named.replace(named.find(odd), odd.size(), "\"name\": 3");
  EXPECT_THAT(read_error(named), StartsWith("g.json: nodes[1].name: 3 "));
}

TEST(GraphJson, ReadsTheShippedFiles) {
  for (const auto& entry : std::filesystem::directory_iterator(FUSELAGE_SOURCE_DIR "/datasets/tasks")) {
    if (grid::find_fusionops_task(entry.path().stem().string()) != nullptr) continue;  // of the grid family
    const std::string path = entry.path().string();
    const auto workloads = read_workloads(read_file(path), path);
    ASSERT_EQ(workloads.size(), 1U) << path;
    EXPECT_EQ(workloads[0].name, entry.path().stem().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(FUSELAGE_SOURCE_DIR "/datasets/hardware"))
    EXPECT_GT(read_hardware(read_file(entry.path().string()), entry.path().string()).fast_mem_capacity, 0);
}

// A chain of n nodes, listed backwards or not.
std::string chain_text(int n, bool backwards) {
  std::string nodes;
  for (int i = 0; i < n; ++i) {
    const int id = backwards ? n - 1 - i : i;
    const std::string inputs = id == 0 ? "" : std::to_string(id - 1);
    nodes += fmt::format(R"({}{{"id": {}, "op": "relu", "shape": [64, 64], "inputs": [{}]}})",
                         i == 0 ? "" : ",\n", id, inputs);
  }
  return graph_text(nodes);
}

TEST(GraphJson, ReadsAHundredThousandNodes) {
  constexpr int n = 100'000;
  for (bool backwards : {false, true}) {
    const auto workloads = read_workloads(chain_text(n, backwards), "g.json");
    ASSERT_EQ(workloads[0].graph.size(), n);
    for (int position = 0; position < n; position += 997)
      EXPECT_EQ(workloads[0].graph.order()[static_cast<std::size_t>(position)], position);
  }
}

TEST(HardwareJson, ReadsAndWrites) {
  EXPECT_EQ(read_hardware(hardware_text, "h.json"), hardware_value);
  EXPECT_EQ(
      hardware_to_json(hardware_value),
      R"({"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8.5, "kernel_launch_cost": 100.0, "max_fusion_depth": 3})");
  EXPECT_EQ(read_hardware(hardware_to_json(hardware_value), "h.json"), hardware_value);
  EXPECT_THAT(error_of([] { read_hardware("{}", "h.json"); }), StartsWith("h.json: fast_mem_capacity"));
  EXPECT_THAT(error_of([] { read_hardware("[1]", "h.json"); }), HasSubstr("expected an object"));
}

TEST(HardwareJson, SetsOneField) {
  Hardware hardware = hardware_value;
  set_hardware_field(hardware, "slow_mem_bandwidth=12");
  set_hardware_field(hardware, "fast_mem_capacity=1e6");
  set_hardware_field(hardware, "kernel_launch_cost=0.5");
  set_hardware_field(hardware, "max_fusion_depth=9");
  EXPECT_EQ(hardware, (Hardware{1'000'000, 12, 0.5, 9}));
  const auto error = [&](const char* assignment) {
    return error_of([&] { set_hardware_field(hardware, assignment); });
  };
  for (const char* bad : {"bandwidth=12", "slow_mem_bandwidth", "", "=3"})
    EXPECT_THAT(error(bad), AllOf(StartsWith("--set"), HasSubstr(quote(bad)), HasSubstr("fast_mem_capacity"),
                                  HasSubstr("slow_mem_bandwidth"), HasSubstr("kernel_launch_cost"),
                                  HasSubstr("max_fusion_depth")));
  EXPECT_THAT(error("slow_mem_bandwidth=fast"),
              AllOf(HasSubstr("slow_mem_bandwidth"), HasSubstr("\"fast\"")));
  EXPECT_THAT(error("slow_mem_bandwidth=-1"),
              AllOf(HasSubstr("slow_mem_bandwidth"), HasSubstr("-1 is negative")));
  EXPECT_THAT(error("slow_mem_bandwidth=NaN"), HasSubstr("NaN"));
  EXPECT_THAT(error("slow_mem_bandwidth="), HasSubstr("\"\" is no number"));
  EXPECT_THAT(error("max_fusion_depth=0"), HasSubstr("0 is out of range"));
  EXPECT_EQ(hardware, (Hardware{1'000'000, 12, 0.5, 9}));
}

}  // namespace
}  // namespace fuselage

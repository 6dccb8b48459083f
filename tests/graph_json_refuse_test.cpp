// Every way in which a graph file can be bad, and what is said about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "error_of.h"
#include "fuselage/graph/graph_json.h"

namespace fuselage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string hardware_text =
    R"({"fast_mem_capacity": 65536, "slow_mem_bandwidth": 8.5, "kernel_launch_cost": 100, "max_fusion_depth": 3})";

std::string graph_text(const std::string& nodes, const std::string& hardware = hardware_text) {
  return fmt::format("{{\"nodes\": [{}], \"hardware\": {}}}", nodes, hardware);
}

const std::string node0 = R"({"id": 0, "op": "matmul", "shape": [4, 8], "inputs": []})";

std::string read_error(const std::string& text) {
  return error_of([&] { read_workloads(text, "g.json"); });
}

struct BadFile {
  std::string text;
  std::vector<std::string> says;
};

void expect_refused(const std::vector<BadFile>& cases) {
  for (const BadFile& bad : cases) {
    const std::string error = read_error(bad.text);
    EXPECT_THAT(error, StartsWith("g.json: ")) << bad.text;
    for (const std::string& words : bad.says) EXPECT_THAT(error, HasSubstr(words)) << bad.text;
  }
}

TEST(GraphJsonRefuses, TextThatIsNoGraph) {
  expect_refused({
      {"", {"empty"}},
      {"{\"nodes\": [", {"line 1, column 12 (nodes[0])", "truncated"}},
      {"nodes: []", {"line 1, column 1", "not JSON", "\"nodes\""}},
      {"[]", {"line 1, column 1", "array", "expected an object"}},
      {"{}", {"hardware"}},
      {"{\"hardware\": " + hardware_text + "}", {"nodes: this field is missing"}},
      {"{\"t1\": {\"graf\": 1}}", {"t1.graf: 1", "unknown field"}},
      {"{\"t1\": 1}", {"t1: 1", "unknown field"}},
      {"{\"t1\": {}}", {"t1.graph: this field is missing"}},
      {graph_text(node0) + " x", {"line 1", "not JSON", "\"x\""}},
      {std::string(100, '[') + graph_text(node0), {"expected an object"}},
      {graph_text(std::string(100, '[')), {"(nodes[0]", "deeper than 64"}},
  });
}

TEST(GraphJsonRefuses, UnknownAndMissingFields) {
  expect_refused({
      {graph_text(node0).replace(0, 1, "{\"color\": \"red\", "),
       {"color: \"red\"", "unknown", "name, nodes, hardware"}},
      {R"({"graph": {"nodes": [], "edges": []}})", {"graph", "hardware"}},
      {graph_text(R"({"id": 0, "op": "add", "shape": [1, 1], "inputs": [], "attrs": {}})"),
       {"nodes[0].attrs: an object of 0 fields", "unknown", "id, op, shape, inputs, flops, output_bytes"}},
      {graph_text(R"({"op": "add", "shape": [1, 1], "inputs": []})"), {"nodes[0].id", "missing"}},
      {graph_text(R"({"id": 0, "shape": [1, 1], "inputs": []})"), {"nodes[0].op", "missing"}},
      {graph_text(R"({"id": 0, "op": "add", "inputs": []})"), {"nodes[0].shape", "missing"}},
      {graph_text(R"({"id": 0, "op": "add", "shape": [1, 1]})"), {"nodes[0].inputs", "missing"}},
      {graph_text("7"), {"nodes[0]: 7 is a number; expected an object"}},
      {graph_text(""), {"nodes", "empty graph", "at least one node"}},
      {R"({"nodes": {}, "hardware": )" + hardware_text + "}", {"nodes", "expected an array"}},
      {graph_text(R"({"id": 0, "id": 0})"), {"(nodes[0].id)", "\"id\"", "twice"}},
      {R"({"graph": {"nodes": [], "hardware": {}}, "seed": 7})", {"seed: 7", "unknown"}},
  });
}

TEST(GraphJsonRefuses, IdsThatDontNumberTheNodes) {
  const auto node = [](const std::string& id) {
    return fmt::format(R"({{"id": {}, "op": "add", "shape": [1, 1], "inputs": []}})", id);
  };
  expect_refused({
      {graph_text(node("0") + "," + node("2")), {"nodes[1].id: 2", "gap", "from 0 to 1"}},
      {graph_text(node("1")), {"nodes[0].id: 1", "gap", "from 0 to 0"}},
      {graph_text(node("0") + "," + node("0")), {"nodes[1].id: 0", "nodes[0]", "once"}},
      {graph_text(node("-1")), {"nodes[0].id: -1"}},
      {graph_text(node("0.5")), {"nodes[0].id: 0.5 is not an integer"}},
      {graph_text(node("\"0\"")), {"nodes[0].id: \"0\" is a string"}},
      {graph_text(node("4294967296")), {"nodes[0].id: 4294967296"}},
      {graph_text(node("18446744073709551616")), {"nodes[0].id: 1.8446744073709552e+19 is out of range"}},
  });
}

TEST(GraphJsonRefuses, InputsThatMakeNoGraph) {
  const auto node = [](int id, const std::string& inputs) {
    return fmt::format(R"({{"id": {}, "op": "add", "shape": [1, 1], "inputs": {}}})", id, inputs);
  };
  expect_refused({
      {graph_text(node(0, "[]") + "," + node(1, "[0, 2]")),
       {"nodes[1].inputs[1]: 2 names no node", "from 0 to 1"}},
      {graph_text(node(0, "[-1]")), {"nodes[0].inputs[0]: -1 names no node"}},
      {graph_text(node(1, "[0]") + "," + node(0, "[0]")), {"nodes[1].inputs[0]: 0 is the node itself"}},
      {graph_text(node(0, "[0.5]")), {"nodes[0].inputs[0]: 0.5"}},
      {graph_text(node(0, "0")), {"nodes[0].inputs: 0", "expected an array"}},
      {graph_text(node(0, "[2]") + "," + node(1, "[0]") + "," + node(2, "[1]")), {"nodes", "cycle", "->"}},
  });
}

TEST(GraphJsonRefuses, UnknownOps) {
  for (const char* op : {"\"matmull\"", "\"\"", "\"MATMUL\""})
    expect_refused(
        {{graph_text(fmt::format(R"({{"id": 0, "op": {}, "shape": [1, 1], "inputs": []}})", op)),
          {fmt::format("nodes[0].op: {} is no known op", op), "one of matmul, conv2d, ", "transpose"}}});
  expect_refused({{graph_text(R"({"id": 0, "op": 3, "shape": [1, 1], "inputs": []})"), {"nodes[0].op: 3"}}});
}

TEST(GraphJsonRefuses, BadShapes) {
  const auto shape = [](const std::string& shape_text) {
    return graph_text(fmt::format(R"({{"id": 0, "op": "add", "shape": {}, "inputs": []}})", shape_text));
  };
  expect_refused({
      {shape("[0, 4]"), {"nodes[0].shape[0]: 0 is out of range; expected an integer >= 1"}},
      {shape("[4, -4]"), {"nodes[0].shape[1]: -4 is negative; expected an integer >= 1"}},
      {shape("[4, 2.5]"), {"nodes[0].shape[1]: 2.5 is not an integer"}},
      {shape("[4]"), {"nodes[0].shape: [4]", "[height, width]"}},
      {shape("[4, 4, 4]"), {"nodes[0].shape: [4, 4, 4]"}},
      {shape("16"), {"nodes[0].shape: 16", "an array"}},
      {shape("[4, null]"), {"nodes[0].shape[1]: null"}},
      {shape("[4294967296, 4294967296]"),
       {"nodes[0].shape: [4294967296, 4294967296] overflows", "9223372036854775807"}},
      {shape("[2305843009213693952, 1]"), {"nodes[0].shape: ", "overflows"}},
      {shape("[9223372036854775808, 1]"), {"nodes[0].shape[0]: 9223372036854775808 is out of range"}},
  });
  // All tensors together may take 2^61 bytes.
  EXPECT_EQ(read_error(shape("[576460752303423488, 1.0]")), "no error");
  expect_refused({{shape("[576460752303423489, 1]"), {"nodes[0]", "output_bytes", "2305843009213693952"}}});
}

TEST(GraphJsonRefuses, BadCostsOfNodes) {
  const auto with = [](const std::string& field) {
    return graph_text(R"({"id": 0, "op": "add", "shape": [1, 1], "inputs": [], )" + field + "}");
  };
  expect_refused({
      {with("\"flops\": -1"), {"nodes[0].flops: -1 is negative"}},
      {with("\"flops\": NaN"), {"(nodes[0].flops)", "NaN", "expected a finite number"}},
      {with("\"flops\": Infinity"), {"(nodes[0].flops)", "Infinity", "expected a finite number"}},
      {with("\"flops\": -Infinity"), {"(nodes[0].flops)", "-Infinity"}},
      {with("\"flops\": 1e999"), {"(nodes[0].flops)", "1e999", "expected a finite number"}},
      {with("\"flops\": 1e300"), {"nodes[0].flops: 1e+300 is out of range"}},
      {with("\"flops\": \"12\""), {"nodes[0].flops: \"12\" is a string"}},
      {with("\"output_bytes\": -4"), {"nodes[0].output_bytes: -4 is negative"}},
      {with("\"output_bytes\": 4.5"), {"nodes[0].output_bytes: 4.5 is not an integer"}},
      {with("\"output_bytes\": 1e30"), {"nodes[0].output_bytes: 1e+30 is out of range"}},
  });
  const auto big = [](int id) {
    return fmt::format(
        R"({{"id": {}, "op": "add", "shape": [1, 1], "inputs": [], "output_bytes": 1152921504606846977}})",
        id);
  };
  expect_refused({{graph_text(big(0) + "," + big(1)),
                   {"nodes[1]", "output_bytes", "1152921504606846977 B", "all tensors"}}});
  EXPECT_EQ(read_error(graph_text(big(0))), "no error");
}

TEST(GraphJsonRefuses, BadHardware) {
  const auto hardware = [](const std::string& field, const std::string& value) {
    std::string text =
        R"({"fast_mem_capacity": 1, "slow_mem_bandwidth": 1, "kernel_launch_cost": 1, "max_fusion_depth": 1})";
    const std::size_t at = text.find(field) + field.size() + 3;
    return graph_text(node0, text.replace(at, 1, value));
  };
  expect_refused({
      {hardware("fast_mem_capacity", "-1"), {"hardware.fast_mem_capacity: -1 is negative"}},
      {hardware("fast_mem_capacity", "NaN"), {"(hardware.fast_mem_capacity)", "NaN"}},
      {hardware("fast_mem_capacity", "10.5"), {"hardware.fast_mem_capacity: 10.5 is not an integer"}},
      {hardware("fast_mem_capacity", "1e19"), {"hardware.fast_mem_capacity: 1e+19"}},
      {hardware("slow_mem_bandwidth", "-0.5"), {"hardware.slow_mem_bandwidth: -0.5 is negative"}},
      {hardware("slow_mem_bandwidth", "NaN"), {"(hardware.slow_mem_bandwidth)", "NaN"}},
      {hardware("slow_mem_bandwidth", "1e-320"), {"hardware.slow_mem_bandwidth", "too small"}},
      {hardware("slow_mem_bandwidth", "null"), {"hardware.slow_mem_bandwidth: null"}},
      {hardware("kernel_launch_cost", "-2"), {"hardware.kernel_launch_cost: -2 is negative"}},
      {hardware("kernel_launch_cost", "1e999"), {"(hardware.kernel_launch_cost)", "1e999"}},
      {hardware("max_fusion_depth", "0"), {"hardware.max_fusion_depth: 0", "from 1 to 2147483647"}},
      {hardware("max_fusion_depth", "2.5"), {"hardware.max_fusion_depth: 2.5"}},
      {hardware("max_fusion_depth", "2147483648"), {"hardware.max_fusion_depth: 2147483648"}},
      {graph_text(node0, "{\"fast_mem_capacity\": 1}"), {"hardware.slow_mem_bandwidth", "missing"}},
      {graph_text(node0, "[]"), {"hardware", "expected an object"}},
      {graph_text(node0, R"({"cores": 4})"), {"hardware.cores: 4", "unknown", "fast_mem_capacity"}},
  });
  EXPECT_EQ(read_error(hardware("slow_mem_bandwidth", "0")), "no error") << "0 is free traffic";
  EXPECT_EQ(read_error(hardware("fast_mem_capacity", "65536.0")), "no error");
}

TEST(GraphJsonRefuses, BadNames) {
  const auto named = [](const std::string& name) {
    return graph_text(node0).replace(0, 1, fmt::format("{{\"name\": {}, ", name));
  };
  expect_refused({
      {named("\"\""), {"name: \"\" is no name"}},
      {named("\"../up\""), {"name: \"../up\""}},
      {named("\"a/b\""), {"name: \"a/b\"", "slashes"}},
      {named("\"a\\u0000b\""), {"name: \"a\\u0000b\""}},
      {named("7"), {"name: 7", "string"}},
      {fmt::format(R"({{"a/b": {{"graph": {}}}}})", graph_text(node0)), {"\"a/b\" is no name"}},
      {named("\"x\"") + "\n" + named("\"x\""), {"\"x\"", "two graphs"}},
  });
}

TEST(GraphJsonRefuses, NamesTheLineOfJsonLines) {
  const std::string good = graph_text(node0);
  EXPECT_THAT(error_of([&] { read_workloads(good + "\n\n" + graph_text("7") + "\n", "g.jsonl"); }),
              StartsWith("g.jsonl:3: nodes[0]: 7"));
  EXPECT_THAT(error_of([&] { read_workloads(good + "\n{\"nodes\": [}\n", "g.jsonl"); }),
              StartsWith("g.jsonl: line 2, column 12 (nodes[0]): not JSON"));
}

TEST(GraphJsonRefuses, AHundredMegabytesOfBracketsQuickly) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(read_error(std::string(100'000'000, '[')), HasSubstr("expected an object"));
  EXPECT_THAT(read_error("{\"nodes\":" + std::string(100'000'000, '[')),
              AllOf(HasSubstr("nodes"), HasSubstr("deeper than 64")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace fuselage

#include "fuselage/walk/generator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage::walk {
namespace {

using nlohmann::json;

GenerateOptions options_of(const json& args) {
  GenerateOptions options;
  options.num_ops = args.at("num_ops");
  options.difficulty = *parse_difficulty(args.at("difficulty").get<std::string>());
  if (!args.at("topology").is_null())
    options.topology = *parse_topology(args.at("topology").get<std::string>());
  if (!args.at("shape").is_null()) {
    options.height = args.at("shape").at(0);
    options.width = args.at("shape").at(1);
  }
  return options;
}

// The parser would round a seed of more than 64 bits to a double, so its digits come from the line.
std::string seed_of(const std::string& line) {
  const std::string key = "\"seed\":";
  const std::size_t begin = line.find(key) + key.size();
  return line.substr(begin, line.find_first_not_of("-0123456789", begin) - begin);
}

void expect_nodes(const Graph& graph, const json& row) {
  ASSERT_EQ(static_cast<std::size_t>(graph.size()), row.at("nodes").size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    const json& expected = row.at("nodes").at(static_cast<std::size_t>(id));
    EXPECT_EQ(name(node.op), expected.at(0).get<std::string>()) << "node " << id;
    EXPECT_EQ(node.inputs, expected.at(1).get<std::vector<NodeId>>()) << "node " << id;
    EXPECT_EQ(json({node.height, node.width}), row.at("shape"));
    EXPECT_EQ(node.output_bytes, node.elements() * 4);
  }
}

void expect_hardware(const Hardware& hardware, const json& expected) {
  EXPECT_EQ(hardware.fast_mem_capacity, expected.at("fast_mem_capacity").get<std::int64_t>());
  EXPECT_EQ(hardware.slow_mem_bandwidth, expected.at("slow_mem_bandwidth").get<double>());
  EXPECT_EQ(hardware.kernel_launch_cost, expected.at("kernel_launch_cost").get<double>());
  EXPECT_EQ(hardware.max_fusion_depth, expected.at("max_fusion_depth").get<int>());
}

int expect_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    SCOPED_TRACE(line.substr(0, 150));
    const json row = json::parse(line);
    PythonRandom random(seed_of(line));
    const Workload workload = row.at("kind") == "training" ? generate_curriculum(row.at("level"), random)
                                                           : generate(options_of(row.at("args")), random);
    expect_nodes(workload.graph, row);
    expect_hardware(workload.hardware, row.at("hardware"));
    EXPECT_EQ(random.random(), row.at("next_random").get<double>());
  }
  return rows;
}

TEST(Generator, DrawsTheGraphsOfTheEnvironment) {
  EXPECT_EQ(expect_rows(std::filesystem::path(FUSELAGE_SOURCE_DIR) / "tests/golden/generator_small.jsonl"),
            26);
}

TEST(Generator, DrawsAllRecordedGraphs) {
  const auto path = std::filesystem::path(FUSELAGE_SOURCE_DIR) / "../shared/golden/walk/generator.jsonl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the full record is not beside this checkout";
  EXPECT_EQ(expect_rows(path), 200);
}

TEST(Generator, EveryTopologyGivesTheSizeItPromises) {
  for (std::size_t topology = 0; topology < topology_names.size(); ++topology) {
    for (int num_ops = 1; num_ops <= 60; ++num_ops) {
      PythonRandom random(num_ops);
      const GenerateOptions options = {.num_ops = num_ops, .topology = static_cast<Topology>(topology)};
      const int size = generate(options, random).graph.size();
      const bool exact = topology < 3 || num_ops == 1;
      EXPECT_LE(size, num_ops) << topology_names[topology];
      EXPECT_GE(size, exact ? num_ops : num_ops - 1) << topology_names[topology];
    }
  }
}

TEST(Generator, NamesSayWhatWasDrawn) {
  GenerateOptions options = {.num_ops = 24, .difficulty = Difficulty::hard};
  EXPECT_EQ(generate_seeded(options, "7").name, "mixed_n24_hard_s7");
  options.topology = Topology::long_skip;
  options.width = 64;
  PythonRandom random(1);
  EXPECT_EQ(generate(options, random).name, "long_skip_n24_hard_256x64");
}

TEST(Generator, ASeedMeansOneGraph) {
  const GenerateOptions options = {.num_ops = 40};
  const auto inputs_of = [&](std::string_view seed) {
    const Workload workload = generate_seeded(options, seed);
    std::vector<std::vector<NodeId>> inputs;
    for (const Node& node : workload.graph.nodes()) inputs.push_back(node.inputs);
    return inputs;
  };
  EXPECT_EQ(inputs_of("5"), inputs_of("-5"));
  EXPECT_NE(inputs_of("5"), inputs_of("6"));
}

TEST(Generator, ALargeGraphIsDrawnToo) {
  const Workload workload = generate_seeded({.num_ops = 200'000, .height = 1, .width = 1}, "3");
  EXPECT_EQ(workload.graph.size(), 200'000);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Generator, OptionsOutOfRangeAreNamed) {
  const auto message = [](const GenerateOptions& options) {
    return message_of([&] { generate_seeded(options, "1"); });
  };
  EXPECT_EQ(message({.num_ops = 0}), "num_ops: 0 is out of range; expected 1 to 1000000");
  EXPECT_EQ(message({.num_ops = 1'000'001}), "num_ops: 1000001 is out of range; expected 1 to 1000000");
  EXPECT_EQ(message({.height = 0}), "shape: [0, 256] is not positive; expected two integers >= 1");
  EXPECT_EQ(message({.width = -1}), "shape: [256, -1] is not positive; expected two integers >= 1");
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(message({.num_ops = 1, .height = most, .width = most}),
            "shape: [9223372036854775807, 9223372036854775807] is too large; expected height * width <= "
            "288230376151711743 for 1 ops");
  EXPECT_EQ(message({.num_ops = 1, .height = 288230376151711743, .width = 1}), "no error");
  EXPECT_EQ(
      message({.num_ops = 2, .height = 288230376151711743, .width = 1}),
      "shape: [288230376151711743, 1] is too large; expected height * width <= 144115188075855871 for 2 ops");
}

TEST(Generator, LevelsAndTensorSizesOutOfRangeAreNamed) {
  const auto message = [](double level) {
    PythonRandom random(1);
    return message_of([&] { generate_curriculum(level, random); });
  };
  EXPECT_EQ(message(-0.1), "level: -0.1 is out of range; expected a number from 0 to 1");
  EXPECT_EQ(message(1.5), "level: 1.5 is out of range; expected a number from 0 to 1");
  EXPECT_EQ(message(std::numeric_limits<double>::quiet_NaN()),
            "level: nan is out of range; expected a number from 0 to 1");
  EXPECT_EQ(message(1), "no error");
  EXPECT_EQ(message_of([] { hardware_for(Difficulty::easy, 0); }),
            "tensor_bytes: 0 is out of range; expected 1 to 1152921504606846975");
}

TEST(Generator, HardwareFilesHoldTheFourDifficulties) {
  for (std::size_t i = 0; i < difficulty_names.size(); ++i) {
    const auto path = std::filesystem::path(FUSELAGE_SOURCE_DIR) / "datasets/hardware" /
                      (std::string(difficulty_names[i]) + ".json");
    std::ifstream file(path);
    const json expected = json::parse(file);
    EXPECT_EQ(expected.size(), 4U) << path;
    expect_hardware(hardware_for(static_cast<Difficulty>(i), 256 * 256 * 4), expected);
  }
}

TEST(Generator, OddTensorSizesRoundExpertMemoryDown) {
  EXPECT_EQ(hardware_for(Difficulty::expert, 1).fast_mem_capacity, 2);
  EXPECT_EQ(hardware_for(Difficulty::expert, 12).fast_mem_capacity, 30);
}

TEST(Generator, NamesAreReadBack) {
  for (std::string_view text : topology_names) EXPECT_EQ(name(*parse_topology(text)), text);
  for (std::string_view text : difficulty_names) EXPECT_EQ(name(*parse_difficulty(text)), text);
  EXPECT_FALSE(parse_topology("Mixed"));
  EXPECT_FALSE(parse_difficulty(""));
}

}  // namespace
}  // namespace fuselage::walk

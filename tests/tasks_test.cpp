#include "fuselage/walk/tasks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace fuselage::walk {
namespace {

using nlohmann::json;

json task_file(std::string_view task) {
  const auto path =
      std::filesystem::path(FUSELAGE_SOURCE_DIR) / "datasets/tasks" / (std::string(task) + ".json");
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return json::parse(file);
}

json config_of(const TaskSpec& task) {
  const GenerateOptions& options = task.options;
  const bool mixed = options.topology == Topology::mixed;
  return {{"num_ops", options.num_ops},
          {"difficulty", name(options.difficulty)},
          {"seed", task.seed},
          {"topology", mixed ? json() : json(name(options.topology))},
          {"shape", {options.height, options.width}},
          {"description", task.description},
          {"max_steps", task.max_steps}};
}

json graph_of(const Workload& workload) {
  json nodes = json::array();
  for (NodeId id = 0; id < workload.graph.size(); ++id) {
    const Node& node = workload.graph.node(id);
    nodes.push_back({{"id", id},
                     {"op", name(node.op)},
                     {"shape", {node.height, node.width}},
                     {"inputs", node.inputs},
                     {"flops", node.flops},
                     {"output_bytes", node.output_bytes}});
  }
  const Hardware& hardware = workload.hardware;
  return {{"nodes", nodes},
          {"hardware",
           {{"fast_mem_capacity", hardware.fast_mem_capacity},
            {"slow_mem_bandwidth", hardware.slow_mem_bandwidth},
            {"kernel_launch_cost", hardware.kernel_launch_cost},
            {"max_fusion_depth", hardware.max_fusion_depth}}}};
}

TEST(Tasks, EqualTheirFiles) {
  ASSERT_EQ(tasks().size(), 5U);
  for (const TaskSpec& task : tasks()) {
    const json file = task_file(task.name);
    const Workload workload = make_task(task);
    EXPECT_EQ(workload.name, task.name);
    EXPECT_EQ(file.at("name").get<std::string>(), task.name);
    EXPECT_EQ(file.at("config"), config_of(task));
    EXPECT_EQ(file.at("graph"), graph_of(workload));
  }
}

TEST(Tasks, EqualTheRecordOfTheEnvironment) {
  const auto path = std::filesystem::path(FUSELAGE_SOURCE_DIR) / "../shared/golden/walk/tasks.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the full record is not beside this checkout";
  std::ifstream stream(path);
  const json record = json::parse(stream);
  EXPECT_EQ(record.size(), tasks().size());
  for (const TaskSpec& task : tasks()) {
    const json& expected = record.at(std::string(task.name));
    json config = config_of(task);
    config["description"] = expected.at("config").at("description");  // ours is in our own words
    EXPECT_EQ(config, expected.at("config"));
    EXPECT_EQ(graph_of(make_task(task)), expected.at("graph"));
    EXPECT_EQ(task_file(task.name).at("greedy_latency"), expected.at("greedy_latency"));
    EXPECT_EQ(task_file(task.name).at("naive_latency"), expected.at("naive_latency"));
  }
}

TEST(Tasks, AreFoundByTheirFullName) {
  for (const TaskSpec& task : tasks()) EXPECT_EQ(find_task(task.name)->seed, task.seed);
  EXPECT_FALSE(find_task("task1"));
  EXPECT_FALSE(find_task(""));
}

}  // namespace
}  // namespace fuselage::walk

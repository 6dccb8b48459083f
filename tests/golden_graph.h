// What the tests read recorded figures with: a graph as golden files write it becomes a Workload straight
// from its fields. On purpose not the library's reader, so that a fault in that reader can't hide one
// elsewhere.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"

namespace fuselage {

// Where the full golden files of the walk family lie when they are there: beside the checkout.
inline std::string golden_dir() {
  return FUSELAGE_SOURCE_DIR "/../shared/golden/walk";
}

// The figures that are always there: tests/golden in the checkout.
inline std::string small_golden_dir() {
  return FUSELAGE_SOURCE_DIR "/tests/golden";
}

// Is there a full golden file of this name, such as "physical.jsonl"?
inline bool has_golden(const std::string& file) {
  return std::filesystem::exists(golden_dir() + "/" + file);
}

// Each line that isn't blank as JSON. Throws when the file can't be read.
inline std::vector<nlohmann::json> read_lines(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": can't be read");
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

// `graph` has "nodes" and "hardware", as the field "graph" of a golden row or a task of tasks.json does.
inline Workload golden_workload(const nlohmann::json& graph, std::string name = "") {
  std::vector<Node> nodes;
  for (const nlohmann::json& entry : graph.at("nodes")) {
    Node node;
    node.op = parse_op(entry.at("op").get<std::string>()).value();
    node.height = entry.at("shape").at(0).get<std::int64_t>();
    node.width = entry.at("shape").at(1).get<std::int64_t>();
    node.inputs = entry.at("inputs").get<std::vector<NodeId>>();
    node.flops = entry.at("flops").get<double>();
    node.output_bytes = entry.at("output_bytes").get<std::int64_t>();
    nodes.push_back(std::move(node));
  }
  const nlohmann::json& hardware = graph.at("hardware");
  return {.name = std::move(name),
          .graph = Graph(std::move(nodes)),
          .hardware = {.fast_mem_capacity = hardware.at("fast_mem_capacity").get<std::int64_t>(),
                       .slow_mem_bandwidth = hardware.at("slow_mem_bandwidth").get<double>(),
                       .kernel_launch_cost = hardware.at("kernel_launch_cost").get<double>(),
                       .max_fusion_depth = hardware.at("max_fusion_depth").get<int>()}};
}

// `kernels` is a list of {nodes, tile, retain}, as "plan" and "groups" of golden rows are.
inline walk::Plan golden_plan(const nlohmann::json& kernels) {
  walk::Plan plan;
  for (const nlohmann::json& kernel : kernels)
    plan.push_back({.nodes = kernel.at("nodes").get<std::vector<NodeId>>(),
                    .tile = kernel.at("tile").get<int>(),
                    .retain = kernel.at("retain").get<std::vector<NodeId>>()});
  return plan;
}

}  // namespace fuselage

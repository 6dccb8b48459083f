#include "machines.h"

#include <cmath>

#include "fuselage/search/split_mix.h"

namespace fuselage::experiments {

Hardware MachineSpec::hardware(const Graph& graph) const {
  double bytes = 0;
  for (const Node& node : graph.nodes()) bytes += static_cast<double>(node.output_bytes);
  return {.fast_mem_capacity = static_cast<std::int64_t>(std::llround(tensors * bytes / graph.size())),
          .slow_mem_bandwidth = bandwidth,
          .kernel_launch_cost = launch,
          .max_fusion_depth = depth};
}

std::vector<MachineSpec> unseen_machines(int count, std::uint64_t seed) {
  search::SplitMix random(seed);
  const auto between = [&](double low, double high) {
    return low * std::exp(random.unit() * std::log(high / low));
  };
  std::vector<MachineSpec> machines;
  for (int i = 0; i < count; ++i) {
    MachineSpec& machine = machines.emplace_back();
    machine.bandwidth = between(1, 60);
    machine.tensors = between(2, 12);
    machine.launch = between(200, 20'000);
    machine.depth = static_cast<int>(std::floor(between(2, 13)));
  }
  return machines;
}

std::vector<Drawn> on_machine(const MachineSpec& machine, const std::vector<Drawn>& graphs, int threads) {
  std::vector<Workload> workloads;
  for (const Drawn& one : graphs) {
    workloads.push_back(one.workload);
    workloads.back().hardware = machine.hardware(one.workload.graph);
  }
  return schedules_of(std::move(workloads), 48, threads);
}

}  // namespace fuselage::experiments

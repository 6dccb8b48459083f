#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fuselage/oracle/explain.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/store.h"
#include "fuselage/report/schedule.h"
#include "schedule_parts.h"

namespace fuselage::report {
namespace {

double bytes_of(const Graph& graph, const std::vector<NodeId>& tensors) {
  double sum = 0;
  for (const NodeId id : tensors) sum += static_cast<double>(graph.bytes(id));
  return sum;
}

// What stays in fast memory through the kernel: whatever is there after it was kept or made by it.
void hold(Kernel& kernel, const Graph& graph, const std::vector<NodeId>& resident_after) {
  kernel.held = resident_after;
  std::int64_t held = 0;  // each once, so that it can't overflow
  for (const NodeId id : kernel.held) held += graph.bytes(id);
  kernel.held_size = std::min(held, kernel.working_set);
}

Kernel kernel_of(const Workload& workload, const walk::PlanKernel& planned,
                 const oracle::KernelReport& report) {
  const Hardware& hardware = workload.hardware;
  Kernel kernel = {.ops = planned.nodes,
                   .tile = fmt::format("{}", report.fallback ? walk::default_tile : planned.tile),
                   .bound = std::string(oracle::bound_of(report))};
  if (!report.fallback) kernel.retain = planned.retain;
  kernel.loads = report.loads;
  kernel.stores = report.writes;
  kernel.loaded = bytes_of(workload.graph, report.loads);
  kernel.stored = bytes_of(workload.graph, report.writes);
  kernel.compute = report.compute_cycles;
  kernel.memory = report.memory_cycles;
  kernel.launches = report.launches;
  kernel.launch = report.launches * hardware.kernel_launch_cost;
  kernel.latency = report.latency;
  kernel.end = report.total;
  kernel.working_set = report.working_set;
  kernel.working_set_share =
      hardware.fast_mem_capacity > 0
          ? static_cast<double>(report.working_set) / static_cast<double>(hardware.fast_mem_capacity)
          : 0.0;
  hold(kernel, workload.graph, report.resident_after);
  return kernel;
}

}  // namespace

Subject subject_of(const Workload& workload) {
  const Hardware& hardware = workload.hardware;
  Subject subject = {.name = workload.name, .family = "walk", .time_unit = "cycles", .size_unit = "B"};
  subject.machine = {.capacity = hardware.fast_mem_capacity,
                     .bandwidth = hardware.slow_mem_bandwidth,
                     .launch = hardware.kernel_launch_cost,
                     .max_fusion_depth = hardware.max_fusion_depth};
  for (NodeId id = 0; id < workload.graph.size(); ++id) {
    const Node& node = workload.graph.node(id);
    subject.ops.push_back({.kind = std::string(name(node.op)),
                           .shape = fmt::format("{} x {}", node.height, node.width),
                           .inputs = distinct(node.inputs),
                           .outputs = {id}});
    if (!workload.node_names.empty())
      subject.ops.back().name = workload.node_names[static_cast<std::size_t>(id)];
    subject.tensors.push_back({.producer = id, .size = node.output_bytes});
  }
  subject.key = oracle::store_key(workload, walk::Rules::seed_honest, walk::Order::fixed, {});
  return subject;
}

Schedule schedule_of(const walk::PlanFile& plan, std::string label) {
  const Workload& workload = plan.workload;
  const oracle::Simulation simulation = oracle::simulate(workload.graph, workload.hardware, plan.kernels,
                                                         {.rules = plan.rules, .order = plan.order});
  Schedule schedule = {.label = std::move(label),
                       .rules = std::string(name(plan.rules)),
                       .order = std::string(name(plan.order)),
                       .latency = simulation.latency,
                       .greedy_latency = plan.greedy_latency,
                       .naive_latency = plan.naive_latency,
                       .lower_bound = plan.lower_bound,
                       .proof = plan.proof};
  if (const auto& fault = simulation.fault)
    schedule.fault = {
        .code = std::string(name(fault->code)), .kernel = fault->kernel, .message = fault->message};
  double start = 0;
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    Kernel kernel = kernel_of(workload, plan.kernels[i], simulation.kernels[i]);
    kernel.start = start;
    start = kernel.end;
    schedule.kernels.push_back(std::move(kernel));
  }
  add_totals(schedule);
  return schedule;
}

}  // namespace fuselage::report

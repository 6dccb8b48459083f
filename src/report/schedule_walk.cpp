#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuselage/oracle/claims.h"
#include "fuselage/oracle/explain.h"
#include "fuselage/oracle/overflow.h"
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

// The tensors that the working set counts in full, `before` being in fast memory when the kernel begins.
// physical: all residents and what is retained. The seed rules read last uses free, don't count a resident
// that is a member, and count what is retained where it is not resident; a fallback retains nothing.
std::vector<TensorId> held_by(const walk::PlanFile& plan, const walk::PlanKernel& planned,
                              const oracle::KernelReport& report, const std::vector<NodeId>& before) {
  const std::set<NodeId> resident(before.begin(), before.end());
  std::set<TensorId> held;
  if (plan.rules == walk::Rules::physical) {
    held = resident;
  } else {
    const std::set<NodeId> members(planned.nodes.begin(), planned.nodes.end());
    for (const NodeId id : report.resident_after)
      if (resident.contains(id) && !members.contains(id)) held.insert(id);
  }
  for (const NodeId id : planned.retain)
    if (!report.fallback && (plan.rules == walk::Rules::physical || !resident.contains(id))) held.insert(id);
  return {held.begin(), held.end()};
}

Kernel kernel_of(const walk::PlanFile& plan, const walk::PlanKernel& planned,
                 const oracle::KernelReport& report, const std::vector<NodeId>& before) {
  const Workload& workload = plan.workload;
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
  kernel.launch = report.launch_cycles;
  kernel.latency = report.latency;
  kernel.end = report.total;
  kernel.working_set = report.working_set;
  kernel.working_set_share =
      hardware.fast_mem_capacity > 0
          ? static_cast<double>(report.working_set) / static_cast<double>(hardware.fast_mem_capacity)
          : 0.0;
  kernel.held = held_by(plan, planned, report, before);
  for (const NodeId id : kernel.held) kernel.held_size += workload.graph.bytes(id);  // each once: no overflow
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
                       .latency = simulation.latency};
  if (const auto& fault = simulation.fault)
    schedule.fault = {
        .code = std::string(name(fault->code)), .kernel = fault->kernel, .message = fault->message};
  schedule.overflows = oracle::overflows(simulation);
  if (schedule.legal()) schedule.doubt = oracle::false_claim(plan, simulation);
  if (schedule.legal() && schedule.doubt.empty()) {
    schedule.greedy_latency = plan.greedy_latency;
    schedule.naive_latency = plan.naive_latency;
    schedule.lower_bound = plan.lower_bound;
    schedule.proof = plan.proof;
  }
  const std::vector<NodeId> nothing;
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    Kernel kernel = kernel_of(plan, plan.kernels[i], simulation.kernels[i],
                              i == 0 ? nothing : simulation.kernels[i - 1].resident_after);
    kernel.start = i == 0 ? 0 : schedule.kernels.back().end;
    schedule.kernels.push_back(std::move(kernel));
  }
  add_totals(schedule);
  return schedule;
}

}  // namespace fuselage::report

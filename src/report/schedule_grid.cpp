#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuselage/oracle/grid_limits.h"
#include "fuselage/oracle/store_grid.h"
#include "fuselage/report/schedule.h"
#include "schedule_parts.h"

namespace fuselage::report {
namespace {

using Ids = std::set<TensorId>;

std::vector<TensorId> list_of(const Ids& ids) {
  return {ids.begin(), ids.end()};
}

// The tensors of one kernel, by what it does with them.
struct KernelTensors {
  Ids made = {};
  Ids read_inside = {};  // of what it makes
  Ids boundary = {};     // read and not made here

  KernelTensors(const grid::Instance& instance, const grid::Kernel& kernel) {
    for (const OpId op : kernel.ops)
      made.insert(instance.op(op).outputs.begin(), instance.op(op).outputs.end());
    for (const OpId op : kernel.ops)
      for (const TensorId input : instance.op(op).inputs)
        (made.contains(input) ? read_inside : boundary).insert(input);
  }
};

std::string tile_text(const grid::Granularity& tile) {
  return fmt::format("{} x {} x {}", tile.w, tile.h, tile.k);
}

// What is retained counts in full under mlsys, as tiles under fusionops.
void add_tensors(Kernel& kernel, const grid::Instance& instance, const grid::Rules& rules,
                 const grid::Kernel& planned, const Ids& resident) {
  const KernelTensors tensors(instance, planned);
  const Ids retained(planned.retain.begin(), planned.retain.end());
  Ids held = resident;
  if (rules.set == grid::RuleSet::mlsys) held.insert(retained.begin(), retained.end());
  for (const TensorId id : tensors.boundary)
    if (!resident.contains(id)) kernel.loads.push_back(id);
  for (const TensorId id : tensors.made)
    if (!tensors.read_inside.contains(id) && !retained.contains(id)) kernel.stores.push_back(id);
  kernel.held = list_of(held);
  for (const TensorId id : kernel.held) kernel.held_size += instance.tensor(id).size();
}

Kernel kernel_of(const grid::Instance& instance, const grid::Kernel& planned,
                 const grid::KernelReport& report) {
  const auto traversal = oracle::traversal_name(planned.traversal);
  const double memory = oracle::memory_time(report, instance.machine());
  return {.ops = planned.ops,
          .tile = tile_text(planned.granularity),
          .traversal = std::string(traversal.value_or("its own order")),
          .retain = planned.retain,
          .loaded = report.loaded(),
          .stored = report.stored,
          .compute = report.compute,
          .memory = memory,
          .latency = report.latency,
          .bound = std::string(name(oracle::limit_of(report, instance.machine()))),
          .working_set = report.working_set,
          .working_set_share = oracle::working_set_share(report, instance.machine())};
}

}  // namespace

Subject subject_of(const grid::Instance& instance, const std::string& name) {
  const grid::Machine& machine = instance.machine();
  Subject subject = {.name = name, .family = "grid", .time_unit = "time units", .size_unit = "elements"};
  subject.machine = {.capacity = machine.capacity,
                     .bandwidth = machine.bandwidth,
                     .native = std::array{machine.native_width, machine.native_height}};
  for (const grid::Op& op : instance.ops()) {
    const grid::Tensor& output = instance.tensor(op.outputs.front());
    subject.ops.push_back({.kind = op.kind == grid::OpKind::matmul ? "matmul" : "pointwise",
                           .shape = fmt::format("{} x {}", output.height, output.width),
                           .inputs = distinct(op.inputs),
                           .outputs = op.outputs});
  }
  for (TensorId id = 0; id < instance.tensor_count(); ++id) {
    Tensor tensor = {.size = instance.tensor(id).size()};
    if (!instance.is_input(id)) tensor.producer = instance.producer(id);
    subject.tensors.push_back(tensor);
  }
  subject.key = oracle::store_key(instance, {});
  return subject;
}

Schedule schedule_of(const grid::Instance& instance, const grid::Rules& rules, const grid::Plan& plan,
                     std::string label) {
  const grid::Evaluation evaluation = grid::evaluate(instance, rules, plan);
  Schedule schedule = {
      .label = std::move(label), .rules = grid::rules_text(rules), .latency = evaluation.latency};
  if (const auto& violation = evaluation.violation)
    schedule.fault = {.code = std::string(fault_name(violation->fault)),
                      .kernel = violation->kernel,
                      .message = violation->message};
  Ids resident;
  double now = 0;
  for (std::size_t i = 0; i < evaluation.kernels.size(); ++i) {
    const grid::Kernel& planned = plan.kernels[i];
    Kernel kernel = kernel_of(instance, planned, evaluation.kernels[i]);
    add_tensors(kernel, instance, rules, planned, resident);
    kernel.start = now;
    kernel.end = now += kernel.latency;
    resident = Ids(planned.retain.begin(), planned.retain.end());
    schedule.kernels.push_back(std::move(kernel));
  }
  add_totals(schedule);
  return schedule;
}

}  // namespace fuselage::report

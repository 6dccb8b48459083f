#include "fuselage/grid/instance.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <string_view>

#include "fuselage/core/error.h"

namespace fuselage::grid {
namespace {

// What the checks need: a problem's parts before it is one.
struct Parts {
  std::span<const Tensor> tensors;
  std::span<const Op> ops;
  const Machine& machine;
  const std::string& source;
};

void check_sizes(const Parts& parts) {
  std::int64_t total = 0;
  for (std::size_t id = 0; id < parts.tensors.size(); ++id) {
    const Tensor& tensor = parts.tensors[id];
    const auto check_side = [&](std::string_view field, std::int64_t side) {
      if (side < 1)
        fail("{}: {}[{}]: {} is out of range; expected an integer >= 1", parts.source, field, id, side);
    };
    check_side("widths", tensor.width);
    check_side("heights", tensor.height);
    const std::int64_t left = Instance::max_total_elements - total;
    if (tensor.height > left / tensor.width)
      fail("{}: heights[{}]: with tensor {} of {} x {} all tensors have more than {} elements; expected less",
           parts.source, id, id, tensor.width, tensor.height, Instance::max_total_elements);
    total += tensor.size();
  }
}

void check_ids(const Parts& parts, std::string_view field, std::size_t op, std::span<const TensorId> ids) {
  const auto n = static_cast<TensorId>(parts.tensors.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= n)
      fail("{}: {}[{}][{}]: {} names no tensor; expected {}", parts.source, field, op, i, ids[i],
           n == 0 ? "at least one tensor in widths" : fmt::format("ids from 0 to {}", n - 1));
}

void check_op(const Parts& parts, std::size_t id) {
  const Op& op = parts.ops[id];
  const std::size_t count = op.inputs.size();
  if (op.kind == OpKind::matmul && count != 2)
    fail("{}: inputs[{}]: the MatMul has {} inputs; expected two, LHS and RHS", parts.source, id, count);
  if (count == 0) fail("{}: inputs[{}]: the op has no inputs; expected at least one", parts.source, id);
  if (op.outputs.empty())
    fail("{}: outputs[{}]: the op has no outputs; expected at least one", parts.source, id);
  check_ids(parts, "inputs", id, op.inputs);
  check_ids(parts, "outputs", id, op.outputs);
  if (!(op.base_cost >= 0 && op.base_cost <= Instance::max_base_cost))
    fail("{}: base_costs[{}]: {} is out of range; expected a number from 0 to {}", parts.source, id,
         op.base_cost, Instance::max_base_cost);
}

void check_machine(const Parts& parts) {
  const auto check = [&](std::string_view field, std::int64_t value) {
    if (value < 1) fail("{}: {}: {} is out of range; expected an integer >= 1", parts.source, field, value);
  };
  check("fast_memory_capacity", parts.machine.capacity);
  check("native_granularity[0]", parts.machine.native_width);
  check("native_granularity[1]", parts.machine.native_height);
  const double bandwidth = parts.machine.bandwidth;
  if (!(bandwidth >= Instance::min_bandwidth && bandwidth <= std::numeric_limits<double>::max()))
    fail("{}: slow_memory_bandwidth: {} is out of range; expected a finite number > 0", parts.source,
         bandwidth);
}

std::vector<OpId> producers_of(const Parts& parts) {
  std::vector<OpId> producers(parts.tensors.size(), no_op);
  for (std::size_t id = 0; id < parts.ops.size(); ++id) {
    const std::vector<TensorId>& outputs = parts.ops[id].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      OpId& producer = producers[static_cast<std::size_t>(outputs[i])];
      if (producer != no_op)
        fail("{}: outputs[{}][{}]: tensor {} is an output of op {} {}; expected one producer, once",
             parts.source, id, i, outputs[i], producer,
             producer == static_cast<OpId>(id) ? "twice" : "already");
      producer = static_cast<OpId>(id);
    }
  }
  return producers;
}

// "3 -> 5 -> 3", the producer first; the middle of a long one is left out.
std::string join_cycle(std::span<const OpId> cycle) {
  constexpr std::size_t shown = 12;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > shown && i == shown / 2) text += fmt::format("... ({} ops) -> ", cycle.size() - shown);
    if (cycle.size() > shown && i >= shown / 2 && i < cycle.size() - shown / 2) continue;
    text += fmt::format("{} -> ", cycle[i]);
  }
  return text + fmt::format("{}", cycle.front());
}

// `waits`, by op: it comes after some op that waits too. Going back from one that waits to a producer that
// does must come to an op twice.
std::vector<OpId> cycle_of(std::span<const Op> ops, std::span<const OpId> producers,
                           const std::vector<bool>& waits) {
  std::vector<OpId> path;
  std::vector<bool> seen(ops.size());
  auto at = static_cast<OpId>(std::find(waits.begin(), waits.end(), true) - waits.begin());
  while (!seen[static_cast<std::size_t>(at)]) {
    seen[static_cast<std::size_t>(at)] = true;
    path.push_back(at);
    for (const TensorId input : ops[static_cast<std::size_t>(at)].inputs) {
      const OpId producer = producers[static_cast<std::size_t>(input)];
      if (producer == no_op || !waits[static_cast<std::size_t>(producer)]) continue;
      at = producer;
      break;
    }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::reverse(path.begin(), path.end());
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  return path;
}

}  // namespace

Instance::Instance(std::vector<Tensor> tensors, std::vector<Op> ops, const Machine& machine,
                   const std::string& source)
    : tensors_(std::move(tensors)), ops_(std::move(ops)), machine_(machine) {
  const Parts parts{.tensors = tensors_, .ops = ops_, .machine = machine_, .source = source};
  if (ops_.empty()) fail("{}: inputs: there is no op; expected at least one", source);
  check_sizes(parts);
  for (std::size_t id = 0; id < ops_.size(); ++id) check_op(parts, id);
  check_machine(parts);
  producer_ = producers_of(parts);

  consumers_.resize(tensors_.size());
  std::vector<int> waiting_for(ops_.size());  // inputs that are not made yet, each naming of them
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (OpId id = 0; id < op_count(); ++id) {
    int& count = waiting_for[static_cast<std::size_t>(id)];
    for (const TensorId input : op(id).inputs) {
      std::vector<OpId>& readers = consumers_[static_cast<std::size_t>(input)];
      if (!readers.empty() && readers.back() == id) continue;
      readers.push_back(id);
      if (!is_input(input)) ++count;
    }
    if (count == 0) ready.push(id);
  }
  while (!ready.empty()) {
    const OpId id = ready.top();
    ready.pop();
    order_.push_back(id);
    for (const TensorId output : op(id).outputs)
      for (const OpId consumer : consumers(output))
        if (--waiting_for[static_cast<std::size_t>(consumer)] == 0) ready.push(consumer);
  }
  if (order_.size() == ops_.size()) return;
  std::vector<bool> waits(ops_.size());
  for (std::size_t id = 0; id < waits.size(); ++id) waits[id] = waiting_for[id] > 0;
  fail("{}: inputs: the ops form a cycle: {}; expected a directed acyclic graph", source,
       join_cycle(cycle_of(ops_, producer_, waits)));
}

}  // namespace fuselage::grid

#include "evaluate_mlsys.h"

#include <algorithm>

#include "fuselage/core/error.h"
#include "mlsys_check.h"
#include "mlsys_run.h"

namespace fuselage::grid {
namespace {

using namespace mlsys;

[[noreturn]] void refuse_shapes(OpId id, TensorId tensor, const Tensor& got, const Tensor& expected) {
  fail("op {}: tensor {} is {} x {}; expected {} x {} (width x height), as its other tensors have it", id,
       tensor, got.width, got.height, expected.width, expected.height);
}

void check_shapes(const Instance& instance) {
  for (OpId id = 0; id < instance.op_count(); ++id) {
    const Op& op = instance.op(id);
    const auto expect = [&](TensorId tensor, const Tensor& expected) {
      const Tensor& got = instance.tensor(tensor);
      if (got.width != expected.width || got.height != expected.height)
        refuse_shapes(id, tensor, got, expected);
    };
    Tensor output = instance.tensor(op.outputs.front());
    if (op.kind == OpKind::matmul) {
      const Tensor& lhs = instance.tensor(op.inputs[0]);
      const Tensor& rhs = instance.tensor(op.inputs[1]);
      expect(op.inputs[1], {.width = rhs.width, .height = lhs.width});
      output = {.width = rhs.width, .height = lhs.height};
    } else {
      for (const TensorId tensor : op.inputs) expect(tensor, output);
    }
    for (const TensorId tensor : op.outputs) expect(tensor, output);
  }
}

// A plan as far as it has run.
class Judge {
 public:
  Judge(const Instance& instance, const Rules& rules)
      : instance_(instance),
        rules_(rules),
        is_stored_(static_cast<std::size_t>(instance.tensor_count())),
        is_run_(static_cast<std::size_t>(instance.op_count())) {}

  Evaluation judge(const Plan& plan);

 private:
  std::optional<Violation> run(const Kernel& kernel);
  std::optional<Violation> unfinished() const;
  void count_iterations(const KernelParts& parts);
  void leave(const Kernel& kernel, const KernelParts& parts);

  const Instance& instance_;
  const Rules& rules_;
  std::vector<bool> is_stored_;     // by tensor
  std::vector<bool> is_run_;        // by op
  std::vector<TensorId> resident_;  // ascending
  std::int64_t iterations_left_ = max_iterations;
  Evaluation evaluation_;
};

Evaluation Judge::judge(const Plan& plan) {
  for (const Kernel& kernel : plan.kernels) {
    evaluation_.violation = run(kernel);
    if (evaluation_.violation) return std::move(evaluation_);
  }
  evaluation_.violation = unfinished();
  return std::move(evaluation_);
}

std::optional<Violation> Judge::run(const Kernel& kernel) {
  const KernelCheck check{.instance = instance_,
                          .rules = rules_,
                          .kernel = kernel,
                          .number = static_cast<int>(evaluation_.kernels.size()),
                          .resident = resident_,
                          .is_stored = is_stored_};
  if (auto fault = ops_fault(check)) return fault;
  const KernelParts parts = kernel_parts(instance_, kernel);
  if (auto fault = parts_fault(check, parts)) return fault;
  count_iterations(parts);
  const KernelReport report = run_kernel({.instance = instance_,
                                          .kernel = parts,
                                          .compute = rules_.compute,
                                          .resident = resident_,
                                          .traversal = kernel.traversal});
  const std::int64_t capacity = instance_.machine().capacity;
  if (report.working_set > capacity)
    return violation_of(
        Fault::out_of_memory, check.number,
        fmt::format("working set {} exceeds fast_memory_capacity {}", report.working_set, capacity));
  evaluation_.latency += report.latency;
  evaluation_.kernels.push_back(report);
  leave(kernel, parts);
  return std::nullopt;
}

void Judge::count_iterations(const KernelParts& parts) {
  if (parts.k_steps > iterations_left_ / parts.tiles)
    fail("kernel {}: with its {} tiles of {} k-steps the plan has more than {} iterations; expected less",
         evaluation_.kernels.size(), parts.tiles, parts.k_steps, max_iterations);
  iterations_left_ -= parts.tiles * parts.k_steps;
}

void Judge::leave(const Kernel& kernel, const KernelParts& parts) {
  for (const OpId id : kernel.ops) is_run_[static_cast<std::size_t>(id)] = true;
  resident_ = parts.retained;
  for (const TensorId sink : parts.sinks)
    if (!std::binary_search(resident_.begin(), resident_.end(), sink))
      is_stored_[static_cast<std::size_t>(sink)] = true;
}

std::optional<Violation> Judge::unfinished() const {
  for (OpId id = 0; id < instance_.op_count(); ++id)
    if (!is_run_[static_cast<std::size_t>(id)])
      return Violation{.fault = Fault::coverage, .message = fmt::format("no kernel runs op {}", id)};
  for (TensorId id = 0; id < instance_.tensor_count(); ++id)
    if (instance_.is_output(id) && !is_stored_[static_cast<std::size_t>(id)])
      return Violation{.fault = Fault::output_not_stored,
                       .message = fmt::format("no kernel stores tensor {}, a graph output", id)};
  return std::nullopt;
}

}  // namespace

Evaluation evaluate_mlsys(const Instance& instance, const Rules& rules, const Plan& plan) {
  check_shapes(instance);
  return Judge(instance, rules).judge(plan);
}

}  // namespace fuselage::grid

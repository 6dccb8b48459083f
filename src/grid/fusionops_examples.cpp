#include "fusionops_examples.h"

#include <algorithm>

namespace fuselage::grid::fusionops_parts {
namespace {

constexpr int most_halvings = 12;
constexpr std::size_t most_examples = 4;
constexpr std::size_t most_fused = 16;  // ops of an example

std::int64_t reduction_of(const Instance& instance, std::span<const OpId> ops) {
  std::int64_t reduction = 1;
  for (const OpId id : ops)
    if (id >= 0 && id < instance.op_count() && instance.op(id).kind == OpKind::matmul)
      reduction = std::max(reduction, instance.tensor(instance.op(id).inputs.front()).width);
  return reduction;
}

bool contains(std::span<const OpId> ops, OpId id) {
  return std::find(ops.begin(), ops.end(), id) != ops.end();
}

class Examples {
 public:
  explicit Examples(const Episode& episode) : episode_(episode), instance_(episode.instance()) {}

  std::vector<Kernel> all() {
    const std::vector<OpId> first = first_ops();
    if (first.empty()) return {};
    add(first, {});
    add_retaining(first);
    add_fused(first);
    if (found_.size() == 1) add_smaller(found_.front());
    return std::move(found_);
  }

 private:
  // The first of what is left to run that fits; under the honest rules together with what was lost.
  std::vector<OpId> first_ops() const {
    std::vector<OpId> left = episode_.ready();
    for (const TensorId output : episode_.unstored_outputs()) left.push_back(instance_.producer(output));
    for (const OpId id : left) {
      std::vector<OpId> ops = with_lost(id);
      if (fitting(episode_, ops, {})) return ops;
    }
    return {};
  }

  // The op after those that must run again to make what it reads.
  std::vector<OpId> with_lost(OpId id) const {
    std::vector<OpId> ops{id};
    if (!episode_.step_rules().honest) return ops;
    const StepState& state = episode_.state();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (const TensorId input : instance_.op(ops[i]).inputs) {
        const auto at = static_cast<std::size_t>(input);
        if (state.stored[at] || state.resident[at] || contains(ops, instance_.producer(input))) continue;
        ops.push_back(instance_.producer(input));
      }
    }
    std::reverse(ops.begin(), ops.end());
    return ops;
  }

  bool add(std::vector<OpId> ops, std::vector<TensorId> retain) {
    const auto granularity = fitting(episode_, ops, retain);
    if (!granularity) return false;
    push({.ops = std::move(ops), .granularity = *granularity, .retain = std::move(retain)});
    return true;
  }

  void push(Kernel step) {
    if (found_.size() < most_examples && std::find(found_.begin(), found_.end(), step) == found_.end())
      found_.push_back(std::move(step));
  }

  void add_retaining(const std::vector<OpId>& ops) {
    for (const TensorId output : instance_.op(ops.back()).outputs)
      if (!instance_.is_output(output) && add(ops, {output})) return;
  }

  // With one more op, and with as many as go.
  void add_fused(std::vector<OpId> ops) {
    const std::size_t alone = ops.size();
    for (bool grew = true; grew && ops.size() < most_fused;) {
      grew = false;
      for (OpId id = 0; id < instance_.op_count() && !grew; ++id) grew = grow(ops, id);
      if (grew && ops.size() == alone + 1) add(ops, {});
    }
    if (ops.size() > alone + 1) add(ops, {});
  }

  bool grow(std::vector<OpId>& ops, OpId id) const {
    if (episode_.state().ran[static_cast<std::size_t>(id)] || contains(ops, id)) return false;
    const std::vector<TensorId>& inputs = instance_.op(id).inputs;
    const auto is_inside = [&](TensorId input) { return contains(ops, instance_.producer(input)); };
    if (std::none_of(inputs.begin(), inputs.end(), is_inside)) return false;
    ops.push_back(id);
    if (fitting(episode_, ops, {})) return true;
    ops.pop_back();
    return false;
  }

  // The same in four tiles, in an order of its own.
  void add_smaller(Kernel step) {
    auto& [w, h, k] = step.granularity;
    w = (w + 1) / 2;
    h = (h + 1) / 2;
    step.traversal = std::vector<std::int64_t>{0, 1, 3, 2};
    if (!judge(step)) step.traversal.reset();
    if (judge(step)) push(std::move(step));
  }

  bool judge(const Kernel& step) const {
    return !judge_step(instance_, episode_.step_rules(), episode_.state(), step).error;
  }

  const Episode& episode_;
  const Instance& instance_;
  std::vector<Kernel> found_;
};

}  // namespace

std::optional<Granularity> fitting(const Episode& episode, std::span<const OpId> ops,
                                   std::span<const TensorId> retain) {
  const Instance& instance = episode.instance();
  Kernel step{.ops = {ops.begin(), ops.end()}, .retain = {retain.begin(), retain.end()}};
  std::int64_t w = instance.machine().native_width;
  std::int64_t h = instance.machine().native_height;
  for (int tiles = 0; tiles < most_halvings; ++tiles, w = (w + 1) / 2, h = (h + 1) / 2) {
    std::int64_t k = reduction_of(instance, ops);
    for (int slices = 0; slices < most_halvings; ++slices, k = (k + 1) / 2) {
      step.granularity = {.w = w, .h = h, .k = k};
      const auto error = judge_step(instance, episode.step_rules(), episode.state(), step).error;
      if (!error) return step.granularity;
      if (error->fault != StepFault::memory) return std::nullopt;
      if (k == 1) break;
    }
    if (w == 1 && h == 1) break;
  }
  return std::nullopt;
}

std::vector<Kernel> example_steps(const Episode& episode) {
  if (episode.done()) return {};
  return Examples(episode).all();
}

}  // namespace fuselage::grid::fusionops_parts

#include "mlsys_kernel.h"

#include <algorithm>
#include <map>

namespace fuselage::grid::mlsys {
namespace {

class Builder {
 public:
  Builder(const Instance& instance, const Kernel& kernel) : instance_(instance), kernel_(kernel) {}
  KernelParts build();

 private:
  Member member_of(OpId id);
  MemberInput input_of(TensorId tensor);
  bool is_read_inside(TensorId tensor) const;
  void mark_roots();
  void count_steps();

  const Instance& instance_;
  const Kernel& kernel_;
  KernelParts parts_ = {};
  std::map<OpId, int> position_;     // in members
  std::map<TensorId, int> outside_;  // in outside
};

KernelParts Builder::build() {
  for (const OpId id : kernel_.ops) position_[id] = static_cast<int>(position_.size());
  for (const OpId id : kernel_.ops) parts_.members.push_back(member_of(id));
  parts_.granularity = kernel_.granularity;
  parts_.retained = kernel_.retain;
  std::sort(parts_.retained.begin(), parts_.retained.end());
  parts_.retained.erase(std::unique(parts_.retained.begin(), parts_.retained.end()), parts_.retained.end());
  mark_roots();
  count_steps();
  return std::move(parts_);
}

Member Builder::member_of(OpId id) {
  const Op& op = instance_.op(id);
  Member member{.id = id,
                .kind = op.kind,
                .base_cost = op.base_cost,
                .output = whole(instance_.tensor(op.outputs.front()))};
  if (op.kind == OpKind::matmul) member.reduction = instance_.tensor(op.inputs.front()).width;
  for (const TensorId tensor : op.inputs) member.inputs.push_back(input_of(tensor));
  member.is_prologue = op.kind == OpKind::pointwise &&
                       std::all_of(member.inputs.begin(), member.inputs.end(),
                                   [](const MemberInput& input) { return input.is_outside(); });
  for (const TensorId output : op.outputs) {
    if (is_read_inside(output)) continue;
    parts_.sinks.push_back(output);
    member.is_root = true;
  }
  return member;
}

MemberInput Builder::input_of(TensorId tensor) {
  const auto producer = position_.find(instance_.producer(tensor));
  if (producer != position_.end()) return {.producer = producer->second};
  const auto [known, is_new] = outside_.try_emplace(tensor, static_cast<int>(parts_.outside.size()));
  if (is_new) parts_.outside.push_back({.id = tensor, .all = whole(instance_.tensor(tensor))});
  return {.outside = known->second};
}

bool Builder::is_read_inside(TensorId tensor) const {
  const auto readers = instance_.consumers(tensor);
  return std::any_of(readers.begin(), readers.end(), [&](OpId id) { return position_.contains(id); });
}

// Members come after those that they read, so one pass back finds all.
void Builder::mark_roots() {
  for (auto member = parts_.members.rbegin(); member != parts_.members.rend(); ++member) {
    if (!member->is_root || member->kind != OpKind::pointwise) continue;
    for (const MemberInput& input : member->inputs)
      if (!input.is_outside()) parts_.members[static_cast<std::size_t>(input.producer)].is_root = true;
  }
}

void Builder::count_steps() {
  const Granularity& granularity = kernel_.granularity;
  parts_.grid = instance_.tensor(parts_.sinks.front());
  parts_.tile_columns = ceil_div(parts_.grid.width, granularity.w);
  parts_.tiles = parts_.tile_columns * ceil_div(parts_.grid.height, granularity.h);
  for (const Member& member : parts_.members) {
    if (!member.is_root || member.kind != OpKind::matmul) continue;
    ++parts_.root_matmuls;
    parts_.k_steps = std::max(parts_.k_steps, ceil_div(member.reduction, granularity.k));
  }
}

}  // namespace

KernelParts kernel_parts(const Instance& instance, const Kernel& kernel) {
  return Builder(instance, kernel).build();
}

}  // namespace fuselage::grid::mlsys

#include "mlsys_run.h"

#include <algorithm>

namespace fuselage::grid::mlsys {
namespace {

// Which sides of a demanded slice are the k-step's part of a K, and so move from one k-step to the next.
enum class Split : std::uint8_t { none, rows, columns };

struct Demand {
  Slice slice;
  Split split = Split::none;
  // An operand of a root matmul, as it is or handed down by pointwise ops: the split side costs what it is
  // long. What an upstream matmul asks for costs whole native tiles.
  bool is_k_slice = false;
};

class Run {
 public:
  explicit Run(const RunInput& input);
  KernelReport report();

 private:
  void run_tile(std::int64_t tile);
  void run_step();
  void run_root(const Member& member);
  void run_upstream(std::size_t position);
  void run_upstream_matmul(const Member& member, const Demand& demand);
  void run_between(const Member& member, const Demand& demand);
  void run_prologue(const Member& member, const Demand& demand);
  void demand(const MemberInput& input, const Demand& demand);
  void account();
  bool is_held(std::size_t outside, const Slice& slice) const;

  const RunInput& in_;
  const KernelParts& kernel_;
  const Machine& machine_;
  std::int64_t always_held_ = 0;  // elements: retained before, retained here
  std::int64_t tiles_held_ = 0;   // output tiles and surplus accumulators
  std::int64_t stored_tiles_ = 0;
  std::vector<bool> is_resident_;  // by outside tensor
  Slice tile_ = {};                // of this iteration, as all that follows
  std::int64_t k_step_ = 0;
  double compute_ = 0;                       // time units
  std::vector<std::vector<Demand>> wanted_;  // by member
  std::vector<std::vector<Slice>> now_;      // by outside tensor
  std::vector<std::vector<Slice>> before_;   // of the iteration before
  KernelReport report_;
};

bool contains(std::span<const TensorId> sorted, TensorId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

Run::Run(const RunInput& input)
    : in_(input),
      kernel_(input.kernel),
      machine_(input.instance.machine()),
      wanted_(kernel_.members.size()),
      now_(kernel_.outside.size()),
      before_(kernel_.outside.size()) {
  for (const TensorId id : in_.resident) always_held_ += in_.instance.tensor(id).size();
  for (const TensorId id : kernel_.retained) always_held_ += in_.instance.tensor(id).size();
  for (const Outside& outside : kernel_.outside) is_resident_.push_back(contains(in_.resident, outside.id));
  for (const TensorId sink : kernel_.sinks)
    if (!contains(kernel_.retained, sink)) ++stored_tiles_;
  const auto sinks = static_cast<std::int64_t>(kernel_.sinks.size());
  tiles_held_ = stored_tiles_;
  if (kernel_.k_steps > 1) tiles_held_ += std::max<std::int64_t>(0, kernel_.root_matmuls - sinks);
  report_.tiles = kernel_.tiles;
  report_.k_steps = kernel_.k_steps;
}

KernelReport Run::report() {
  for (std::int64_t i = 0; i < kernel_.tiles; ++i)
    run_tile(in_.traversal ? (*in_.traversal)[static_cast<std::size_t>(i)] : i);
  return report_;
}

void Run::run_tile(std::int64_t tile) {
  const auto range = [](std::int64_t index, std::int64_t step, std::int64_t size) {
    return Range{.begin = index * step, .end = index * step + std::min(step, size - index * step)};
  };
  const Granularity& granularity = kernel_.granularity;
  tile_ = {.rows = range(tile / kernel_.tile_columns, granularity.h, kernel_.grid.height),
           .columns = range(tile % kernel_.tile_columns, granularity.w, kernel_.grid.width)};
  for (k_step_ = 0; k_step_ < kernel_.k_steps; ++k_step_) run_step();
}

void Run::run_step() {
  compute_ = 0;
  for (std::vector<Demand>& wanted : wanted_) wanted.clear();
  std::swap(now_, before_);
  for (std::vector<Slice>& slices : now_) slices.clear();
  for (std::size_t i = kernel_.members.size(); i-- > 0;) {
    if (kernel_.members[i].is_root) run_root(kernel_.members[i]);
    run_upstream(i);
  }
  account();
}

void Run::run_root(const Member& member) {
  if (member.kind == OpKind::pointwise) {
    if (k_step_ + 1 < kernel_.k_steps) return;
    compute_ += member.base_cost;
    for (const MemberInput& input : member.inputs) demand(input, {.slice = tile_});
    return;
  }
  const std::int64_t begin = k_step_ * kernel_.granularity.k;
  if (begin >= member.reduction) return;
  const Range part{.begin = begin, .end = begin + std::min(kernel_.granularity.k, member.reduction - begin)};
  const std::int64_t full = in_.compute == Compute::k ? member.reduction : machine_.native_width;
  compute_ += member.base_cost * ratio(part.length(), full);
  demand(member.inputs[0],
         {.slice = {.rows = tile_.rows, .columns = part}, .split = Split::columns, .is_k_slice = true});
  demand(member.inputs[1],
         {.slice = {.rows = part, .columns = tile_.columns}, .split = Split::rows, .is_k_slice = true});
}

// What other members want of this one's output, beyond the tile that a root makes anyway.
void Run::run_upstream(std::size_t position) {
  const Member& member = kernel_.members[position];
  for (const Demand& demand : wanted_[position]) {
    if (member.kind == OpKind::matmul) {
      run_upstream_matmul(member, demand);
    } else if (member.is_prologue) {
      run_prologue(member, demand);
    } else {
      run_between(member, demand);
    }
  }
}

void Run::run_upstream_matmul(const Member& member, const Demand& demand) {
  const std::int64_t rows = demand.slice.rows.length();
  const std::int64_t columns = demand.slice.columns.length();
  const double down = demand.is_k_slice && demand.split == Split::rows
                          ? ratio(rows, machine_.native_height)
                          : static_cast<double>(ceil_div(rows, machine_.native_height));
  const double across = demand.is_k_slice && demand.split == Split::columns
                            ? ratio(columns, machine_.native_width)
                            : static_cast<double>(ceil_div(columns, machine_.native_width));
  const double depth = in_.compute == Compute::k ? 1.0 : ratio(member.reduction, machine_.native_width);
  compute_ += member.base_cost * down * across * depth;
  const Range all{.begin = 0, .end = member.reduction};
  this->demand(member.inputs[0], {.slice = {.rows = demand.slice.rows, .columns = all},
                                  .split = demand.split == Split::rows ? Split::rows : Split::none});
  this->demand(member.inputs[1], {.slice = {.rows = all, .columns = demand.slice.columns},
                                  .split = demand.split == Split::columns ? Split::columns : Split::none});
}

void Run::run_between(const Member& member, const Demand& demand) {
  const Slice& slice = demand.slice;
  double part = 1;
  if (demand.split == Split::rows) part = ratio(slice.rows.length(), member.output.rows.length());
  if (demand.split == Split::columns) part = ratio(slice.columns.length(), member.output.columns.length());
  const std::int64_t natives = ceil_div(slice.rows.length(), machine_.native_height) *
                               ceil_div(slice.columns.length(), machine_.native_width);
  compute_ += member.base_cost * part * static_cast<double>(natives);
  for (const MemberInput& input : member.inputs) this->demand(input, demand);
}

// demand() has made the slice a strip, the same one in all k-steps of a tile.
void Run::run_prologue(const Member& member, const Demand& demand) {
  const Slice& strip = demand.slice;
  const std::int64_t natives = ceil_div(strip.rows.length(), machine_.native_height) *
                               ceil_div(strip.columns.length(), machine_.native_width);
  if (k_step_ == 0) compute_ += member.base_cost * static_cast<double>(natives);
  for (const MemberInput& input : member.inputs) this->demand(input, demand);
}

// Equal demands count once, as of the kind that came first.
void Run::demand(const MemberInput& input, const Demand& demand) {
  if (input.is_outside()) {
    std::vector<Slice>& slices = now_[static_cast<std::size_t>(input.outside)];
    if (std::find(slices.begin(), slices.end(), demand.slice) == slices.end()) slices.push_back(demand.slice);
    return;
  }
  const Member& producer = kernel_.members[static_cast<std::size_t>(input.producer)];
  if (producer.is_root && demand.slice == tile_) return;  // made anyway
  Demand wanted = demand;
  if (producer.is_prologue) {
    if (demand.split == Split::rows) wanted.slice.rows = producer.output.rows;
    if (demand.split == Split::columns) wanted.slice.columns = producer.output.columns;
    wanted.split = Split::none;
  }
  std::vector<Demand>& list = wanted_[static_cast<std::size_t>(input.producer)];
  const bool is_known =
      std::any_of(list.begin(), list.end(), [&](const Demand& known) { return known.slice == wanted.slice; });
  if (!is_known) list.push_back(wanted);
}

bool Run::is_held(std::size_t outside, const Slice& slice) const {
  const Slice& all = kernel_.outside[outside].all;
  return std::any_of(before_[outside].begin(), before_[outside].end(),
                     [&](const Slice& held) { return held == slice || held == all; });
}

void Run::account() {
  std::int64_t held = always_held_ + tiles_held_ * tile_.size();
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    if (is_resident_[i]) continue;
    for (const Slice& slice : now_[i]) {
      held += slice.size();
      if (!is_held(i, slice)) moved += slice.size();
    }
  }
  const std::int64_t stored = k_step_ + 1 == kernel_.k_steps ? stored_tiles_ * tile_.size() : 0;
  moved += stored;
  report_.working_set = std::max(report_.working_set, held);
  report_.compute += compute_;
  report_.transferred += static_cast<double>(moved);
  report_.stored += static_cast<double>(stored);
  report_.latency += std::max(compute_, static_cast<double>(moved) / machine_.bandwidth);
}

}  // namespace

KernelReport run_kernel(const RunInput& input) {
  return Run(input).report();
}

}  // namespace fuselage::grid::mlsys

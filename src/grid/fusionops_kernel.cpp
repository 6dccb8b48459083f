#include "fusionops_kernel.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "arithmetic.h"
#include "fusionops_parts.h"

namespace fuselage::grid::fusionops_parts {
namespace {

constexpr std::int64_t most_parts = 16;         // columns or rows, where so few fit
constexpr std::int64_t most_k_steps = 64;       // of which every number is tried
constexpr std::int64_t most_ordered = 1 << 12;  // tiles whose order a plan spells out
constexpr double rounding = 1e-9;

// A step of which only the granularity is open.
class OpenStep {
 public:
  OpenStep(const Instance& instance, const Shape& shape, std::span<const OpId> ops, const Choice& kept)
      : instance_(instance),
        step_({.ops = {ops.begin(), ops.end()},
               .granularity = {.w = 1, .h = 1},
               .retain = retained(shape, kept.retained)}),
        tensors_(instance, state_of(instance, shape, kept.resident), step_) {
    held_ = static_cast<double>(kept.beside);
    for (const TensorId id : tensors_.resident) held_ += size(id);
    for (const BoundaryInput& input : tensors_.loaded) {
      pointwise_ += input.role == Role::pointwise;
      rhs_ += input.role == Role::rhs;
      lhs_ += input.role == Role::lhs;
      if (input.role == Role::lhs) whole_lhs_ += size(input.tensor);
    }
    for (const OpId id : ops) {
      const Op& op = instance.op(id);
      (op.kind == OpKind::pointwise ? pointwise_cost_ : matmul_cost_) += op.base_cost;
      if (op.kind == OpKind::matmul)
        reduction_ = std::max(reduction_, instance.tensor(op.inputs.front()).width);
    }
  }

  std::int64_t reduction() const { return reduction_; }

  void choose(const Granularity& granularity) {
    step_.granularity = granularity;
    grid_ = StepGrid(instance_, step_);
  }
  const Granularity& granularity() const { return step_.granularity; }

  double working_set() const {
    const auto [w, h, k] = step_.granularity;
    const double lhs = grid_.k_steps > 1 ? whole_lhs_ : lhs_ * area(k, h);
    return held_ + (pointwise_ + tensors_.outputs) * area(w, h) + rhs_ * area(w, k) + lhs;
  }
  bool fits() const {
    const double elements = working_set();
    return elements < 0x1p63 && static_cast<std::int64_t>(elements) <= instance_.machine().capacity;
  }

  // Time units, of all iterations.
  double compute() const {
    return static_cast<double>(grid_.tiles) *
           (static_cast<double>(grid_.k_steps) * pointwise_cost_ + matmul_cost_);
  }
  // No traversal moves less.
  double least_traffic() const {
    const auto [w, h, k] = step_.granularity;
    const auto tiles = static_cast<double>(grid_.tiles);
    double elements = (pointwise_ + static_cast<double>(tensors_.stored.size())) * tiles * area(w, h);
    if (grid_.k_steps > 1)
      elements += whole_lhs_ + rhs_ * tiles * static_cast<double>(grid_.k_steps) * area(w, k);
    else
      elements += lhs_ * static_cast<double>(grid_.rows) * area(k, h) +
                  rhs_ * static_cast<double>(grid_.columns) * area(w, k);
    return elements / instance_.machine().bandwidth;
  }
  // Of a single tile and k-step, this is the least of all granularities.
  double least() const {
    const double spared = std::max(0.0, lhs_ * area(granularity().k, granularity().h) - whole_lhs_);
    return std::max(compute(), least_traffic() - spared / instance_.machine().bandwidth);
  }

  // A snake never costs more than the raster that jumps back, and gains only where an operand is shared.
  std::span<const Traversal> traversals() const {
    static constexpr std::array<Traversal, 1> raster = {Traversal::raster};
    static constexpr std::array<Traversal, 2> snakes = {Traversal::row_snake, Traversal::column_snake};
    const bool turns = grid_.k_steps == 1 && grid_.rows > 1 && grid_.columns > 1 && rhs_ > 0;
    if (!turns || grid_.tiles > most_ordered) return raster;
    return snakes;
  }
  double latency(Traversal traversal) {
    step_.traversal = tile_order(traversal, grid_.rows, grid_.columns);
    return step_cost(instance_, step_, tensors_, grid_).latency;
  }

 private:
  static std::vector<TensorId> retained(const Shape& shape, std::uint64_t bits) {
    std::vector<TensorId> list;
    for (std::size_t i = 0; i < std::min<std::size_t>(64, shape.made().size()); ++i)
      if (bits >> i & 1U) list.push_back(shape.made()[i]);
    return list;
  }
  static StepState state_of(const Instance& instance, const Shape& shape, std::uint64_t bits) {
    StepState state(instance);
    for (std::size_t i = 0; i < std::min<std::size_t>(64, shape.inputs().size()); ++i)
      if (bits >> i & 1U) state.resident[static_cast<std::size_t>(shape.inputs()[i].tensor)] = 1;
    return state;
  }
  double size(TensorId id) const { return static_cast<double>(instance_.tensor(id).size()); }

  const Instance& instance_;
  Kernel step_;
  StepTensors tensors_;
  StepGrid grid_ = {instance_, step_};
  double held_ = 0;  // elements of whole tensors in fast memory throughout
  double whole_lhs_ = 0;
  double pointwise_ = 0;  // boundary inputs to load, by role
  double lhs_ = 0;
  double rhs_ = 0;
  double pointwise_cost_ = 0;
  double matmul_cost_ = 0;
  std::int64_t reduction_ = 0;  // 0: no matmul
};

// 1, 2, 3, ... `every`, and from there to `most` in steps of an eighth, where parts are as long as they need
// be: ceil(length / part) of each is its number.
std::vector<std::int64_t> counts(std::int64_t length, std::int64_t every, std::int64_t most) {
  std::vector<std::int64_t> list;
  for (std::int64_t n = 1; n <= std::min(length, most); n += n < every ? 1 : 1 + n / 8) {
    const std::int64_t made = ceil_div(length, ceil_div(length, n));
    if (list.empty() || made > list.back()) list.push_back(made);
  }
  return list;
}

class Search {
 public:
  Search(const Instance& instance, const Shape& shape, const Choice& kept)
      : instance_(instance), shape_(shape), kept_(kept) {}

  KernelPricer::Best run() {
    const std::vector<std::vector<OpId>> orders = role_orders(instance_, shape_.ops());
    for (const std::int64_t most : {most_parts, Instance::max_total_elements}) {
      columns_ = counts(shape_.width(), most_parts, most);
      rows_ = counts(shape_.height(), most_parts, most);
      for (std::size_t order = 0; order < orders.size(); ++order) {
        OpenStep step(instance_, shape_, orders[order], kept_);
        best_order_ = static_cast<int>(order);
        search(step);
      }
      if (best_.cost.legal() || std::max(shape_.width(), shape_.height()) <= most_parts) break;
    }
    return best_;
  }

 private:
  Granularity parts(const OpenStep& step, std::int64_t k_steps, std::int64_t columns,
                    std::int64_t rows) const {
    return {.w = ceil_div(shape_.width(), columns),
            .h = ceil_div(shape_.height(), rows),
            .k = step.reduction() == 0 ? 1 : ceil_div(step.reduction(), k_steps)};
  }
  bool beaten(double latency) const { return latency * (1 - rounding) >= best_.cost.latency; }

  // Compute rises with k-steps, columns and rows.
  void search(OpenStep& step) {
    step.choose(parts(step, 1, 1, 1));
    const double ideal = step.least();
    const std::int64_t longest = std::max<std::int64_t>(1, step.reduction());
    for (const std::int64_t k_steps : counts(longest, most_k_steps, longest)) {
      step.choose(parts(step, k_steps, columns_.back(), rows_.back()));
      if (!step.fits()) continue;
      for (const std::int64_t columns : columns_) {
        for (const std::int64_t rows : rows_) {
          if (best_.cost.latency <= ideal) return;
          step.choose(parts(step, k_steps, columns, rows));
          if (beaten(step.compute())) break;
          if (!beaten(step.least_traffic()) && step.fits()) consider(step);
        }
      }
    }
  }

  void consider(OpenStep& step) {
    for (const Traversal traversal : step.traversals()) {
      const double latency = step.latency(traversal);
      if (latency >= best_.cost.latency) continue;
      best_ = {.cost = {.latency = latency, .working_set = static_cast<std::int64_t>(step.working_set())},
               .granularity = step.granularity(),
               .traversal = traversal,
               .order = best_order_};
    }
  }

  const Instance& instance_;
  const Shape& shape_;
  const Choice& kept_;
  std::vector<std::int64_t> columns_;
  std::vector<std::int64_t> rows_;
  KernelPricer::Best best_;
  int best_order_ = 0;
};

}  // namespace

KernelCost price(const Instance& instance, const Shape& shape, const Choice& choice) {
  const auto orders = role_orders(instance, shape.ops());
  OpenStep step(instance, shape, orders.at(static_cast<std::size_t>(choice.order)), choice);
  step.choose(choice.granularity);
  const double elements = step.working_set();
  KernelCost cost{.working_set = elements < 0x1p63 ? static_cast<std::int64_t>(elements)
                                                   : std::numeric_limits<std::int64_t>::max()};
  if (step.fits()) cost.latency = step.latency(choice.traversal);
  return cost;
}

KernelPricer::Best cheapest(const Instance& instance, const Shape& shape, const Choice& kept) {
  return Search(instance, shape, kept).run();
}

}  // namespace fuselage::grid::fusionops_parts

// Time. Of a step's iterations only a few differ: with k-steps > 1 the first of all, the first of a tile, the
// last of a tile and those between; else the first tile, one in the row of its predecessor, one in its
// column, and one in neither.

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuselage/grid/fusionops.h"
#include "fusionops_parts.h"
#include "repeated_sum.h"

namespace fuselage::grid {
namespace fusionops_parts {
namespace {

enum class Move : std::uint8_t { first, new_tile, same_row, same_column, next_k };

// Elements that one boundary input takes at an iteration.
double loaded(const Tensor& tensor, Role role, const Granularity& tile, bool split, Move move) {
  const bool begins_tile = move != Move::next_k;
  switch (role) {
    case Role::pointwise:
      return begins_tile ? area(tile.w, tile.h) : 0;
    case Role::lhs:
      if (split) return move == Move::first ? static_cast<double>(tensor.size()) : 0;
      return move == Move::same_row ? 0 : area(tile.k, tile.h);
    case Role::rhs:
      return !split && move == Move::same_column ? 0 : area(tile.w, tile.k);
  }
  return 0;
}

class Iterations {
 public:
  Iterations(const Instance& instance, const Kernel& step, const StepTensors& tensors, const StepGrid& grid)
      : instance_(instance), step_(step), tensors_(tensors), split_(grid.k_steps > 1) {
    double pointwise = 0;
    double matmul = 0;
    for (const OpId id : step.ops) {
      const Op& op = instance.op(id);
      if (op.kind == OpKind::pointwise)
        pointwise += op.base_cost;
      else
        matmul += op.base_cost / static_cast<double>(grid.k_steps);
    }
    compute_ = pointwise + matmul;
  }

  double compute() const { return compute_; }
  double cost(Move move, bool ends_tile) const {
    const double bandwidth = instance_.machine().bandwidth;
    double in = 0;
    for (const BoundaryInput& input : tensors_.loaded) in += elements(input, move) / bandwidth;
    double out = 0;
    for (std::size_t i = 0; ends_tile && i < tensors_.stored.size(); ++i) out += tile_area() / bandwidth;
    return std::max(compute_, in + out);
  }
  double transferred(Move move, bool ends_tile) const {
    double sum = ends_tile ? stored() : 0;
    for (const BoundaryInput& input : tensors_.loaded) sum += elements(input, move);
    return sum;
  }
  // At the end of a tile.
  double stored() const { return static_cast<double>(tensors_.stored.size()) * tile_area(); }

 private:
  double elements(const BoundaryInput& input, Move move) const {
    return loaded(instance_.tensor(input.tensor), input.role, step_.granularity, split_, move);
  }
  double tile_area() const { return area(step_.granularity.w, step_.granularity.h); }

  const Instance& instance_;
  const Kernel& step_;
  const StepTensors& tensors_;
  bool split_;
  double compute_ = 0;
};

void add_split(const Iterations& iterations, const StepGrid& grid, StepCost& cost) {
  const double between = iterations.cost(Move::next_k, false);
  const double last = iterations.cost(Move::next_k, true);
  const auto tile = [&](double sum, double first) {
    return add_repeatedly(sum + first, between, grid.k_steps - 2) + last;
  };
  const double first = iterations.cost(Move::new_tile, false);
  cost.latency = repeat(tile(0, iterations.cost(Move::first, false)), grid.tiles - 1,
                        [&](double sum) { return tile(sum, first); });
  const auto tiles = static_cast<double>(grid.tiles);
  cost.transferred =
      iterations.transferred(Move::first, false) +
      (tiles - 1) * iterations.transferred(Move::new_tile, false) +
      tiles * (static_cast<double>(grid.k_steps - 2) * iterations.transferred(Move::next_k, false) +
               iterations.transferred(Move::next_k, true));
}

struct Moves {
  double rows = 0;     // tiles in the row of their predecessor
  double columns = 0;  // tiles in its column
};

Moves add_raster(const Iterations& iterations, const StepGrid& grid, double& latency) {
  const double any = iterations.cost(Move::first, true);
  if (grid.columns == 1) {
    latency = add_repeatedly(any, iterations.cost(Move::same_column, true), grid.rows - 1);
    return {.columns = static_cast<double>(grid.rows - 1)};
  }
  const double same_row = iterations.cost(Move::same_row, true);
  latency =
      repeat(0, grid.rows, [&](double sum) { return add_repeatedly(sum + any, same_row, grid.columns - 1); });
  return {.rows = static_cast<double>(grid.rows) * static_cast<double>(grid.columns - 1)};
}

Moves add_traversal(const Iterations& iterations, const StepGrid& grid, std::span<const std::int64_t> order,
                    double& latency) {
  const double any = iterations.cost(Move::first, true);
  const double same_row = iterations.cost(Move::same_row, true);
  const double same_column = iterations.cost(Move::same_column, true);
  Moves moves;
  latency = any;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool in_row = order[i] / grid.columns == order[i - 1] / grid.columns;
    const bool in_column = order[i] % grid.columns == order[i - 1] % grid.columns;
    latency += in_row ? same_row : in_column ? same_column : any;
    moves.rows += in_row ? 1 : 0;
    moves.columns += in_column ? 1 : 0;
  }
  return moves;
}

void add_unsplit(const Iterations& iterations, const StepGrid& grid, const Kernel& step, StepCost& cost) {
  const Moves moves = step.traversal ? add_traversal(iterations, grid, *step.traversal, cost.latency)
                                     : add_raster(iterations, grid, cost.latency);
  cost.transferred = (static_cast<double>(grid.tiles) - moves.rows - moves.columns) *
                         iterations.transferred(Move::first, true) +
                     moves.rows * iterations.transferred(Move::same_row, true) +
                     moves.columns * iterations.transferred(Move::same_column, true);
}

}  // namespace

StepCost step_cost(const Instance& instance, const Kernel& step, const StepTensors& tensors,
                   const StepGrid& grid) {
  StepCost cost{.tiles = grid.tiles, .k_steps = grid.k_steps};
  if (grid.tiles == 0) return cost;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  cost.iterations = grid.tiles > most / grid.k_steps ? most : grid.tiles * grid.k_steps;
  const Iterations iterations(instance, step, tensors, grid);
  if (grid.k_steps > 1)
    add_split(iterations, grid, cost);
  else
    add_unsplit(iterations, grid, step, cost);
  cost.compute = iterations.compute() * static_cast<double>(cost.iterations);
  cost.stored = iterations.stored() * static_cast<double>(grid.tiles);
  return cost;
}

}  // namespace fusionops_parts

namespace {

using fusionops_parts::area;

// Adds what one op costs alone.
double add_naive(const Instance& instance, const Op& op, double total) {
  const auto [capacity, bandwidth, w, h] = instance.machine();
  const fusionops_parts::StepGrid grid(
      instance, {.ops = {instance.producer(op.outputs.front())}, .granularity = {.w = w, .h = h}});
  const auto cost = [&](double in, double out) { return std::max(op.base_cost, in + out); };
  const double tile = area(w, h) / bandwidth;
  if (op.kind == OpKind::pointwise) {
    double in = 0;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) in += tile;
    double out = 0;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) out += tile;
    const double value = cost(in, out);
    return repeat(total, grid.rows, [&](double sum) { return add_repeatedly(sum, value, grid.columns); });
  }
  const std::int64_t reduction = instance.tensor(op.inputs.front()).width;
  const double lhs = area(reduction, h);
  const double rhs = area(w, reduction);
  const double begins_row = cost((lhs + rhs) / bandwidth, tile);
  const double goes_on = cost(rhs / bandwidth, tile);
  return repeat(total, grid.rows,
                [&](double sum) { return add_repeatedly(sum + begins_row, goes_on, grid.columns - 1); });
}

}  // namespace

double fusionops_naive_latency(const Instance& instance) {
  double total = 0;
  for (const Op& op : instance.ops()) total = add_naive(instance, op, total);
  return total;
}

}  // namespace fuselage::grid

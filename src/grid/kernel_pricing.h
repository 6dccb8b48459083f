// The closed form of a kernel's cost: a shape, what is resident and retained, and granularities one after the
// other. Only kernel_cost.cpp and granularity_search.cpp use it, in whose loops it must be inlined.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arithmetic.h"
#include "fuselage/grid/kernel_cost.h"
#include "tile_classes.h"

namespace fuselage::grid {

// A need with its extents as they are at this granularity: what covers the axis is whole.
struct GridSlice {
  Extent rows = Extent::whole;
  Extent columns = Extent::whole;
  Phase phase = last_step;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int16_t input = 0;

  bool same_region(const GridSlice& other) const { return rows == other.rows && columns == other.columns; }
  bool everything() const { return rows == Extent::whole && columns == Extent::whole; }
};

inline constexpr std::size_t most_slices = 128;

// One kernel at one granularity.
class Pricing {
 public:
  Pricing(const Instance& instance, const Shape& shape, std::uint64_t resident, std::uint64_t retained)
      : instance_(instance),
        machine_(instance.machine()),
        shape_(shape),
        resident_(resident),
        retained_(retained) {
    for (std::size_t i = 0; i < shape.made().size(); ++i)
      if (shape.is_sink(i) && !is_retained(i)) ++stored_;
    kept_ = kept();
  }

  void choose(const Granularity& granularity) {
    granularity_ = granularity;
    rows_ = Axis(shape_.height(), granularity.h);
    columns_ = Axis(shape_.width(), granularity.w);
    steps_ = 1;
    for (std::int64_t k : shape_.reductions()) steps_ = std::max(steps_, ceil_div(k, granularity.k));
  }

  bool within_limits() const {
    const Granularity& g = granularity_;
    if (g.w < 1 || g.h < 1 || g.k < 1 || g.w > machine_.native_width || g.h > machine_.native_height)
      return false;
    if (shape_.has_matmul() && (g.k > machine_.native_width || g.k > shape_.least_k())) return false;
    return steps_ == 1 || (g.w >= shape_.split_width() && g.h >= shape_.split_height());
  }

  // False: two slices of a tensor may coincide by chance of the iteration (or there are too many), so that
  // what the pricing says is only about right.
  bool list_slices() {
    bool exact = true;
    count_ = 0;
    for (std::size_t i = 0; i < shape_.inputs().size(); ++i) {
      if (is_resident(i)) continue;
      const BoundaryInput& input = shape_.inputs()[i];
      const std::size_t first = count_;
      for (const Need& need : input.needs) {
        if (count_ == most_slices) return false;
        slices_[count_++] = {.rows = extent_at(need.region.rows, rows_, input.height),
                             .columns = extent_at(need.region.columns, columns_, input.width),
                             .phase = need.phase,
                             .height = input.height,
                             .width = input.width,
                             .input = static_cast<std::int16_t>(i)};
        for (std::size_t other = first; other + 1 < count_; ++other)
          exact = exact && !may_coincide(slices_[other], slices_[count_ - 1]);
      }
    }
    return exact;
  }

  std::int64_t working_set() const {
    return kept_ + tiles_held() * rows_.length * columns_.length + most_slices_held();
  }

  double latency(Traversal traversal) const {
    double total = 0;
    for_segments([&](std::int64_t step, double count) {
      const double compute = compute_at(step);
      if (step == 0)
        total += first_steps(traversal, compute);
      else
        total += count * inner_steps(step, compute);
    });
    return total;
  }

  // Elements: every input that is not resident and every sink that is not retained, once.
  double least_traffic() const {
    double total = static_cast<double>(stored_ * shape_.height() * shape_.width());
    for (std::size_t i = 0; i < shape_.inputs().size(); ++i)
      if (!is_resident(i)) total += static_cast<double>(shape_.inputs()[i].height * shape_.inputs()[i].width);
    return total;
  }

  double compute() const {
    double total = 0;
    for_segments([&](std::int64_t step, double count) { total += count * compute_at(step); });
    return total * static_cast<double>(rows_.parts * columns_.parts);
  }

 private:
  // What covers the whole axis is the whole.
  Extent extent_at(Extent extent, const Axis& axis, std::int64_t length) const {
    const bool covers =
        (extent == Extent::slice && granularity_.k >= length) || (extent == Extent::tile && axis.parts == 1);
    return covers ? Extent::whole : extent;
  }

  static bool may_coincide(const GridSlice& a, const GridSlice& b) {
    const auto apart = [](Extent x, Extent y) {
      return x != y && (x == Extent::whole || y == Extent::whole);
    };
    if (a.same_region(b)) return false;
    return !apart(a.rows, b.rows) && !apart(a.columns, b.columns);
  }

  std::int64_t steps_of(Phase phase) const {
    return ceil_div(shape_.reductions()[static_cast<std::size_t>(phase)], granularity_.k);
  }
  bool active(Phase phase, std::int64_t step) const {
    return phase == last_step ? step == steps_ - 1 : step < steps_of(phase);
  }
  std::int64_t length_at(Phase phase, std::int64_t step) const {
    const std::int64_t k = granularity_.k;
    return std::min(k, shape_.reductions()[static_cast<std::size_t>(phase)] - step * k);
  }

  // K-steps that are alike: [0,1), and what lies between the ends of the reductions.
  template <class Visit>
  void for_segments(const Visit& visit) const {
    std::array<std::int64_t, 8> few = {};
    std::vector<std::int64_t> many;
    std::size_t size = 0;
    const std::size_t most = 2 + 3 * shape_.reductions().size();
    if (most > few.size()) many.resize(most);
    std::int64_t* cuts = most > few.size() ? many.data() : few.data();
    const auto cut = [&](std::int64_t step) {
      if (step > 0 && step < steps_) cuts[size++] = step;
    };
    cut(1);
    cut(steps_ - 1);
    for (std::size_t i = 0; i < shape_.reductions().size(); ++i) {
      const std::int64_t end = steps_of(static_cast<Phase>(i));
      for (std::int64_t step = end - 1; step <= end + 1; ++step) cut(step);
    }
    std::sort(cuts, cuts + size);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i <= size; ++i) {
      const std::int64_t end = i == size ? steps_ : cuts[i];
      if (end > begin) visit(begin, static_cast<double>(end - begin));
      begin = end;
    }
  }

  double compute_at(std::int64_t step) const {
    double total = 0;
    for (const Work& work : shape_.works()) {
      if (!active(work.phase, step) || (work.first_only && step > 0)) continue;
      double cost = work.scale;
      if (work.per_length) cost *= static_cast<double>(length_at(work.phase, step));
      cost *= part(work.row_part, work.region.rows, work, step, true);
      cost *= part(work.column_part, work.region.columns, work, step, false);
      total += cost;
    }
    return total;
  }

  double part(Work::Part part, Extent extent, const Work& work, std::int64_t step, bool rows) const {
    if (part == Work::Part::one) return 1;
    const std::int64_t native = rows ? machine_.native_height : machine_.native_width;
    std::int64_t length = rows ? work.height : work.width;
    if (extent == Extent::tile) length = rows ? rows_.length : columns_.length;
    if (extent == Extent::slice) length = length_at(work.phase, step);
    if (part == Work::Part::tiles) return static_cast<double>(ceil_div(length, native));
    return static_cast<double>(length) / static_cast<double>(native);
  }

  std::int64_t extent_of(const GridSlice& slice, Extent extent, std::int64_t whole, std::int64_t tile,
                         std::int64_t step) const {
    if (extent == Extent::whole) return whole;
    return extent == Extent::tile ? std::min(tile, whole) : length_at(slice.phase, step);
  }
  std::int64_t size_of(const GridSlice& slice, const Lengths& tile, std::int64_t step) const {
    return extent_of(slice, slice.rows, slice.height, tile.rows, step) *
           extent_of(slice, slice.columns, slice.width, tile.columns, step);
  }

  // Is there an earlier slice of the same tensor that is the same and asked for in this step?
  bool repeated(std::size_t i, std::int64_t step) const {
    for (std::size_t j = i; j-- > 0 && slices_[j].input == slices_[i].input;)
      if (active(slices_[j].phase, step) && slices_[j].same_region(slices_[i])) return true;
    return false;
  }

  // Did the iteration before, with k-step `before`, hold slice i or its whole tensor?
  bool held(std::size_t i, const Change& change, std::int64_t before) const {
    if (change.first) return false;
    const GridSlice& slice = slices_[i];
    const bool moved = (slice.rows == Extent::tile && change.rows) ||
                       (slice.columns == Extent::tile && change.columns) ||
                       ((slice.rows == Extent::slice || slice.columns == Extent::slice) && change.step);
    const auto gives = [&](const GridSlice& other) {
      return active(other.phase, before) && (other.everything() || (!moved && other.same_region(slice)));
    };
    for (std::size_t j = i; j < count_ && slices_[j].input == slice.input; ++j)
      if (gives(slices_[j])) return true;
    for (std::size_t j = i; j-- > 0 && slices_[j].input == slice.input;)
      if (gives(slices_[j])) return true;
    return false;
  }

  double loaded(const Lengths& tile, const Change& change, std::int64_t step) const {
    const std::int64_t before = step == 0 ? steps_ - 1 : step - 1;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (active(slices_[i].phase, step) && !repeated(i, step) && !held(i, change, before))
        total += size_of(slices_[i], tile, step);
    return static_cast<double>(total);
  }

  double iteration(const Lengths& tile, const Change& change, std::int64_t step, double compute) const {
    double traffic = loaded(tile, change, step);
    if (step == steps_ - 1) traffic += static_cast<double>(stored_ * tile.rows * tile.columns);
    return std::max(compute, traffic / machine_.bandwidth);
  }

  double first_steps(Traversal traversal, double compute) const {
    const bool by_columns = traversal == Traversal::column_snake;
    const TileClasses classes(by_columns ? columns_ : rows_, by_columns ? rows_ : columns_,
                              traversal != Traversal::raster, by_columns);
    double total = 0;
    for (const TileClass& c : classes) {
      Change change = c.change;
      change.rows = change.rows && rows_.parts > 1;
      change.columns = change.columns && columns_.parts > 1;
      change.step = steps_ > 1;
      total += c.count * iteration(c.size, change, 0, compute);
    }
    return total;
  }

  double inner_steps(std::int64_t step, double compute) const {
    const Change change{.step = true};
    double total = 0;
    for (int last_row = 0; last_row < (rows_.clipped() ? 2 : 1); ++last_row)
      for (int last_column = 0; last_column < (columns_.clipped() ? 2 : 1); ++last_column) {
        const std::int64_t many_rows = last_row ? 1 : rows_.parts - (rows_.clipped() ? 1 : 0);
        const std::int64_t many_columns = last_column ? 1 : columns_.parts - (columns_.clipped() ? 1 : 0);
        const Lengths tile{last_row ? rows_.last : rows_.length,
                           last_column ? columns_.last : columns_.length};
        total += static_cast<double>(many_rows * many_columns) * iteration(tile, change, step, compute);
      }
    return total;
  }

  bool is_retained(std::size_t i) const { return i < 64 && (retained_ >> i & 1U); }
  bool is_resident(std::size_t i) const { return i < 64 && (resident_ >> i & 1U); }

  // Whole tensors that stay in fast memory throughout.
  std::int64_t kept() const {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < shape_.inputs().size(); ++i)
      if (is_resident(i)) total += shape_.inputs()[i].height * shape_.inputs()[i].width;
    for (std::size_t i = 0; i < shape_.made().size(); ++i)
      if (is_retained(i)) total += instance_.tensor(shape_.made()[i]).size();
    return total;
  }

  std::int64_t tiles_held() const {
    const std::int64_t surplus = steps_ > 1 ? std::max(0, shape_.root_matmuls() - shape_.sinks()) : 0;
    return stored_ + surplus;
  }

  std::int64_t most_slices_held() const {
    std::int64_t most = 0;
    const Lengths tile{rows_.length, columns_.length};
    for_segments([&](std::int64_t step, double) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < count_; ++i)
        if (active(slices_[i].phase, step) && !repeated(i, step)) sum += size_of(slices_[i], tile, step);
      most = std::max(most, sum);
    });
    return most;
  }

  const Instance& instance_;
  const Machine& machine_;
  const Shape& shape_;
  std::uint64_t resident_;
  std::uint64_t retained_;
  Granularity granularity_ = {};
  Axis rows_ = {1, 1};
  Axis columns_ = {1, 1};
  std::int64_t steps_ = 1;
  std::int64_t stored_ = 0;  // sinks that are not retained
  std::int64_t kept_ = 0;    // elements of whole tensors held throughout
  std::array<GridSlice, most_slices> slices_;
  std::size_t count_ = 0;
};

}  // namespace fuselage::grid

#include "fuselage/grid/kernel_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "fusionops_kernel.h"

namespace fuselage::grid {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// What changed since the iteration before.
struct Change {
  bool rows = false;
  bool columns = false;
  bool step = false;
  bool first = false;  // there was none before
};

// Lengths of a tile and a k-step.
struct Lengths {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// Iterations of one kind: so many tiles of this size that are entered in this way.
struct TileClass {
  Lengths size = {};
  Change change = {};
  double count = 0;
};

// Along one axis of the grid: parts, and how long the first and the last are.
struct Axis {
  std::int64_t parts = 1;
  std::int64_t length = 0;
  std::int64_t last = 0;

  Axis(std::int64_t extent, std::int64_t part)
      : parts(ceil_div(extent, part)), length(std::min(extent, part)), last(extent - (parts - 1) * part) {}
  bool clipped() const { return last != length; }
};

// At most 1 + 3 x 2 x 2 kinds.
class TileClasses {
 public:
  // `outer` changes slowly; `swap`: the outer axis is that of the columns.
  TileClasses(const Axis& outer, const Axis& inner, bool snake, bool swap) : swap_(swap) {
    add(outer.length, inner.length, true, true, true, 1);
    // Within a line: from the first part on, or in every second line of a snake from the last.
    const double lines = static_cast<double>(outer.parts);
    const double back = snake ? std::floor(lines / 2) : 0;
    along(outer, inner, lines - back, back);
    if (outer.parts > 1) turn(outer, inner, snake);
  }
  const TileClass* begin() const { return classes_.data(); }
  const TileClass* end() const { return classes_.data() + size_; }

 private:
  void add(std::int64_t outer, std::int64_t inner, bool outer_changed, bool inner_changed, bool first,
           double count) {
    if (count <= 0) return;
    TileClass& c = classes_[size_++];
    c.size = swap_ ? Lengths{inner, outer} : Lengths{outer, inner};
    c.change.rows = swap_ ? inner_changed : outer_changed;
    c.change.columns = swap_ ? outer_changed : inner_changed;
    c.change.step = true;
    c.change.first = first;
    c.count = count;
  }

  // Tiles after the first of their line; the last line goes forth or back like any other.
  void along(const Axis& outer, const Axis& inner, double forth, double back) {
    if (inner.parts == 1) return;
    const bool last_goes_back = back > 0 && outer.parts % 2 == 0;
    const double middle = static_cast<double>(inner.parts - 2);
    const auto lines = [&](std::int64_t length, double forward, double backward) {
      if (forward + backward <= 0) return;
      // Forth: parts 1 ... n-2, then the last; back: parts n-2 ... 0, none of which is clipped.
      if (inner.clipped()) {
        add(length, inner.length, false, true, false, forward * middle + backward * (middle + 1));
        add(length, inner.last, false, true, false, forward);
      } else {
        add(length, inner.length, false, true, false, (forward + backward) * (middle + 1));
      }
    };
    if (!outer.clipped()) {
      lines(outer.length, forth, back);
      return;
    }
    lines(outer.length, forth - (last_goes_back ? 0 : 1), back - (last_goes_back ? 1 : 0));
    lines(outer.last, last_goes_back ? 0 : 1, last_goes_back ? 1 : 0);
  }

  // First tiles of the lines after the first line.
  void turn(const Axis& outer, const Axis& inner, bool snake) {
    const bool jumps = !snake && inner.parts > 1;
    for (int last = 0; last < 2; ++last) {
      const std::int64_t length = last ? outer.last : outer.length;
      const double count = last ? 1 : static_cast<double>(outer.parts - 2);
      if (!snake || !inner.clipped()) {
        add(length, inner.length, true, jumps, false, count);
        continue;
      }
      // Odd lines of a snake start at the last part. Lines 1 ... n-2, and line n-1.
      const double at_end = last ? static_cast<double>((outer.parts - 1) % 2) : std::ceil(count / 2);
      add(length, inner.last, true, false, false, at_end);
      add(length, inner.length, true, false, false, count - at_end);
    }
  }

  std::array<TileClass, 16> classes_ = {};
  std::size_t size_ = 0;
  bool swap_;
};

// A need with its extents as they are at this granularity: what covers the axis is whole.
struct Slice {
  Extent rows = Extent::whole;
  Extent columns = Extent::whole;
  Phase phase = last_step;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int16_t input = 0;

  bool same_region(const Slice& other) const { return rows == other.rows && columns == other.columns; }
  bool everything() const { return rows == Extent::whole && columns == Extent::whole; }
};

constexpr std::size_t most_slices = 128;

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

  std::int64_t iterations() const { return rows_.parts * columns_.parts * steps_; }

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

  static bool may_coincide(const Slice& a, const Slice& b) {
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

  std::int64_t extent_of(const Slice& slice, Extent extent, std::int64_t whole, std::int64_t tile,
                         std::int64_t step) const {
    if (extent == Extent::whole) return whole;
    return extent == Extent::tile ? std::min(tile, whole) : length_at(slice.phase, step);
  }
  std::int64_t size_of(const Slice& slice, const Lengths& tile, std::int64_t step) const {
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
    const Slice& slice = slices_[i];
    const bool moved = (slice.rows == Extent::tile && change.rows) ||
                       (slice.columns == Extent::tile && change.columns) ||
                       ((slice.rows == Extent::slice || slice.columns == Extent::slice) && change.step);
    const auto gives = [&](const Slice& other) {
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
  std::array<Slice, most_slices> slices_;
  std::size_t count_ = 0;
};

// Looks for the cheapest granularity. Fewer tiles never cost more, so for every length of a k-step and every
// number of columns of tiles it is the fewest rows that fit; then rows and columns are varied around the
// best.
class GranularitySearch {
 public:
  GranularitySearch(const Instance& instance, const Shape& shape, std::uint64_t resident,
                    std::uint64_t retained)
      : machine_(instance.machine()),
        shape_(shape),
        pricing_(instance, shape, resident, retained),
        fewest_rows_(ceil_div(shape.height(), std::min(shape.height(), machine_.native_height))),
        fewest_columns_(ceil_div(shape.width(), std::min(shape.width(), machine_.native_width))) {
    for (std::int64_t k : shape.reductions()) reduction_ = std::max(reduction_, k);
  }

  KernelPricer::Best run() {
    for (const std::int64_t k : steps()) {
      if (ideal()) break;
      for (std::int64_t columns = fewest_columns_; columns <= shape_.width(); columns += 1 + columns / 8)
        if (!fit(k, columns)) break;
    }
    for (bool better = best_.cost.legal(); better && !ideal();) {
      better = vary_step();
      const std::int64_t rows = rows_;
      const std::int64_t columns = columns_;
      for (std::int64_t dr = -1; dr <= 1; ++dr)
        for (std::int64_t dc = -1; dc <= 1; ++dc) better = vary(rows + dr, columns + dc) || better;
    }
    return best_;
  }

 private:
  // Lengths of a k-step, the longest first: about as many k-steps as limits ask for, and more.
  std::vector<std::int64_t> steps() const {
    if (!shape_.has_matmul()) return {1};
    std::vector<std::int64_t> list;
    const std::int64_t longest = std::min(shape_.least_k(), machine_.native_width);
    for (std::int64_t count = ceil_div(reduction_, longest); count <= reduction_; count += 1 + count / 4) {
      const std::int64_t k = std::min(longest, ceil_div(reduction_, count));
      if (list.empty()) list.push_back(longest);
      if (k < list.back()) list.push_back(k);
    }
    if (list.back() > 1) list.push_back(1);
    return list;
  }

  bool fits(const Granularity& g) {
    pricing_.choose(g);
    pricing_.list_slices();
    return pricing_.working_set() <= machine_.capacity;
  }
  // Tiles as even as may be; under split-k as large as what feeds a matmul needs them.
  Granularity parts(std::int64_t rows, std::int64_t columns, std::int64_t k) const {
    Granularity g{.w = ceil_div(shape_.width(), columns), .h = ceil_div(shape_.height(), rows), .k = k};
    if (k >= reduction_) return g;
    g.w = std::max(g.w, std::min(shape_.split_width(), machine_.native_width));
    g.h = std::max(g.h, std::min(shape_.split_height(), machine_.native_height));
    return g;
  }

  // Nothing can be cheaper: all arithmetic in as few tiles as native allows, or everything moved just once.
  bool ideal() {
    if (least_ == 0) {
      const std::int64_t longest = std::min(shape_.least_k(), machine_.native_width);
      pricing_.choose(parts(fewest_rows_, fewest_columns_, shape_.has_matmul() ? longest : 1));
      least_ = std::max(pricing_.compute(), pricing_.least_traffic() / machine_.bandwidth);
    }
    return best_.cost.latency <= least_ * (1 + 1e-12);
  }

  // False: neither this nor any larger number of columns can pay.
  bool fit(std::int64_t k, std::int64_t columns) {
    std::int64_t rows = fewest_rows_;
    pricing_.choose(parts(rows, columns, k));
    if (pricing_.compute() >= best_.cost.latency) return false;
    if (!fits(parts(rows, columns, k))) {
      std::int64_t below = rows;  // does not fit
      rows = shape_.height();
      if (!fits(parts(rows, columns, k))) return true;
      while (rows - below > 1) {
        const std::int64_t middle = below + (rows - below) / 2;
        (fits(parts(middle, columns, k)) ? rows : below) = middle;
      }
    }
    consider(rows, columns, k);
    const std::int64_t longer = longest_step(rows, columns, k);
    if (longer > k) consider(rows, columns, longer);
    return true;
  }

  // The longest k-step that fits with this many tiles; `k` does.
  std::int64_t longest_step(std::int64_t rows, std::int64_t columns, std::int64_t k) {
    if (!shape_.has_matmul()) return k;
    std::int64_t above = std::min(shape_.least_k(), machine_.native_width) + 1;  // does not fit
    while (above - k > 1) {
      const std::int64_t middle = k + (above - k) / 2;
      (fits(parts(rows, columns, middle)) ? k : above) = middle;
    }
    return k;
  }

  bool vary(std::int64_t rows, std::int64_t columns) {
    if (rows < fewest_rows_ || columns < fewest_columns_ || rows > shape_.height() ||
        columns > shape_.width())
      return false;
    return consider(rows, columns, best_.granularity.k);
  }

  // What fits is no matter of length alone: the last k-step holds more and may be shorter.
  bool vary_step() {
    if (!shape_.has_matmul()) return false;
    bool better = false;
    const std::int64_t longest = std::min(shape_.least_k(), machine_.native_width);
    for (std::int64_t k = longest; k > longest / 4; --k) better = consider(rows_, columns_, k) || better;
    return better;
  }

  bool consider(std::int64_t rows, std::int64_t columns, std::int64_t k) {
    const Granularity g = parts(rows, columns, k);
    pricing_.choose(g);
    if (!pricing_.within_limits() || pricing_.compute() >= best_.cost.latency) return false;
    if (!fits(g)) return false;
    bool better = false;
    const bool one_line = g.w >= shape_.width() || g.h >= shape_.height();
    for (const Traversal snake : {Traversal::row_snake, Traversal::column_snake}) {
      const Traversal traversal = one_line ? Traversal::raster : snake;
      const double latency = pricing_.latency(traversal);
      if (latency < best_.cost.latency) {
        best_ = {{.latency = latency}, g, traversal};
        rows_ = rows;
        columns_ = columns;
        better = true;
      }
      if (one_line) break;
    }
    return better;
  }

  const Machine& machine_;
  const Shape& shape_;
  Pricing pricing_;
  std::int64_t fewest_rows_;
  std::int64_t fewest_columns_;
  std::int64_t reduction_ = 1;  // the longest of the root matmuls
  KernelPricer::Best best_;
  double least_ = 0;       // time units; 0: not known yet
  std::int64_t rows_ = 0;  // of tiles, of the best
  std::int64_t columns_ = 0;
};

}  // namespace

KernelCost KernelPricer::price(const Shape& shape, const Choice& choice) const {
  if (rules_.set != RuleSet::mlsys) return fusionops_parts::price(*instance_, shape, choice);
  Pricing pricing(*instance_, shape, choice.resident, choice.retained);
  pricing.choose(choice.granularity);
  if (!pricing.within_limits()) return {};
  if (!shape.closed() || !pricing.list_slices()) return simulate(shape, choice);
  const std::int64_t working_set = pricing.working_set();
  if (working_set > instance_->machine().capacity) return {.working_set = working_set};
  return {.latency = pricing.latency(choice.traversal), .working_set = working_set};
}

KernelPricer::Best KernelPricer::best(const Shape& shape, std::uint64_t resident, std::uint64_t retained,
                                      std::int64_t beside) const {
  if (rules_.set != RuleSet::mlsys)
    return fusionops_parts::cheapest(*instance_, shape,
                                     {.resident = resident, .retained = retained, .beside = beside});
  Best best = GranularitySearch(*instance_, shape, resident, retained).run();
  if (best.cost.legal()) best.cost = price(shape, {best.granularity, best.traversal, resident, retained});
  return best;
}

std::optional<std::vector<std::int64_t>> tile_order(Traversal traversal, std::int64_t rows,
                                                    std::int64_t columns) {
  if (traversal == Traversal::raster || rows == 1 || columns == 1) return std::nullopt;
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(rows * columns));
  const bool by_columns = traversal == Traversal::column_snake;
  const std::int64_t lines = by_columns ? columns : rows;
  const std::int64_t length = by_columns ? rows : columns;
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t at = line % 2 == 0 ? i : length - 1 - i;
      order.push_back(by_columns ? at * columns + line : line * columns + at);
    }
  return order;
}

Kernel kernel_of(const Shape& shape, const Choice& choice) {
  Kernel kernel{.ops = {shape.ops().begin(), shape.ops().end()}, .granularity = choice.granularity};
  for (std::size_t i = 0; i < std::min<std::size_t>(64, shape.made().size()); ++i)
    if (choice.retained >> i & 1U) kernel.retain.push_back(shape.made()[i]);
  kernel.traversal = tile_order(choice.traversal, ceil_div(shape.height(), choice.granularity.h),
                                ceil_div(shape.width(), choice.granularity.w));
  return kernel;
}

}  // namespace fuselage::grid

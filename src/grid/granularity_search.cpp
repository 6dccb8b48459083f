#include "granularity_search.h"

#include <algorithm>
#include <vector>

#include "fuselage/core/cost.h"
#include "kernel_pricing.h"

namespace fuselage::grid {
namespace {

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
      for (std::int64_t columns = fewest_columns_; fit(k, columns) && columns < shape_.width();)
        columns = std::min(shape_.width(), columns + 1 + columns / 8);
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
    const std::int64_t steps = ceil_div(std::max<std::int64_t>(1, reduction_), machine_.native_width);
    return least_ >= unbeatable_from(best_.cost.latency,
                                     static_cast<std::size_t>(fewest_rows_ * fewest_columns_ * steps));
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

KernelPricer::Best search_granularity(const Instance& instance, const Shape& shape, std::uint64_t resident,
                                      std::uint64_t retained) {
  return GranularitySearch(instance, shape, resident, retained).run();
}

}  // namespace fuselage::grid

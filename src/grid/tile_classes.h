// The tiles of a traversal in a few classes that cost the same: how large they are, and what changed since
// the tile before.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "arithmetic.h"

namespace fuselage::grid {

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

}  // namespace fuselage::grid

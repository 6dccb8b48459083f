#include "part_front.h"

#include <algorithm>
#include <limits>

#include "arithmetic.h"

namespace fuselage::grid {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows or columns of tiles: `count` or a few more, each of `length` or more.
struct Parts {
  std::int64_t count = 1;
  std::int64_t length = 1;
};

// All small counts, then ever fewer: each stands for those up to the next, with the count of the first and
// the length of the last, so that nothing costs less than what is considered.
std::vector<Parts> parts_of(std::int64_t extent, std::int64_t native) {
  std::vector<Parts> parts;
  std::int64_t count = ceil_div(extent, native);
  while (count <= extent) {
    const std::int64_t next = count + 1 + count / 64;
    parts.push_back({count, std::min(native, ceil_div(extent, std::min(next - 1, extent)))});
    count = next;
  }
  return parts;
}

// Tiles that are `other` long on the other axis: the sum of min(length, other) over the parts of this axis,
// at least. All parts but the last are equally long, and none is longer than native.
double lesser_lengths(std::int64_t extent, std::int64_t count, std::int64_t native, std::int64_t other) {
  const std::int64_t last = std::max<std::int64_t>(1, extent - (count - 1) * native);
  return static_cast<double>(std::min(extent, (count - 1) * other + std::min(last, other)));
}

// One k-step: every tile loads a strip of its row or of its column, of at least the lesser number of lines.
double strips(const RootPart& part, const Parts& rows, const Parts& columns, const Machine& machine) {
  const auto lines = [&](std::int64_t width) {
    return lesser_lengths(part.height, rows.count, machine.native_height, width);
  };
  const std::int64_t last =
      std::max<std::int64_t>(1, part.width - (columns.count - 1) * machine.native_width);
  const double sum = static_cast<double>(columns.count - 1) * lines(columns.length) + lines(last);
  return sum * static_cast<double>(part.reduction);
}

}  // namespace

void Front::reduce() {
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return a.compute < b.compute || (a.compute == b.compute && a.traffic < b.traffic);
  });
  std::vector<Point> hull;
  for (const Point& p : points_) {
    if (!hull.empty() && p.traffic >= hull.back().traffic) continue;
    while (hull.size() >= 2) {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      if ((b.traffic - a.traffic) * (p.compute - a.compute) <
          (p.traffic - a.traffic) * (b.compute - a.compute))
        break;
      hull.pop_back();
    }
    hull.push_back(p);
  }
  points_ = std::move(hull);
}

double Front::least(double alpha, double bandwidth) const {
  double least = infinity;
  for (const Point& p : points_)
    least = std::min(least, alpha * p.compute + (1 - alpha) * p.traffic / bandwidth);
  return least;
}

Front PartFronts::front(const RootPart& part) const {
  Front front;
  const std::vector<Parts> all_rows = parts_of(part.height, machine_.native_height);
  const std::vector<Parts> all_columns = parts_of(part.width, machine_.native_width);
  const auto fewest = static_cast<double>(all_rows.front().count * all_columns.front().count);
  // Several k-steps: slices may be as thin as 1, and are loaded anew for every tile. One: they hold all of K.
  for (const bool one_step : {false, true}) {
    if (one_step ? part.reduction > machine_.native_width : part.reduction == 1) continue;
    const std::int64_t step = one_step ? part.reduction : 1;
    for (const Parts& columns : all_columns)
      for (const Parts& rows : all_rows) {
        std::int64_t held = rows.length * columns.length;
        if (part.lhs.takes_room) held += rows.length * step;
        if (part.rhs.takes_room && !part.square) held += columns.length * step;
        if (held > machine_.capacity) continue;
        const auto tiles = static_cast<double>(rows.count * columns.count);
        const double across = one_step || part.once ? 1 : static_cast<double>(columns.count);
        const double down = one_step || part.once ? 1 : static_cast<double>(rows.count);
        double traffic = part.square ? part.lhs.loads(1) : part.lhs.loads(across) + part.rhs.loads(down);
        const bool own = !part.once && !part.square && part.lhs.loaded && part.rhs.loaded &&
                         part.lhs.readers == 1 && part.rhs.readers == 1;
        if (one_step && own) traffic = std::max(traffic, strips(part, rows, columns, machine_));
        front.add(part.compute * tiles + part.beside * (tiles - fewest), traffic);
        break;  // more rows cost more
      }
  }
  front.reduce();
  return front;
}

Front PartFronts::front(const OperandPart& part) const {
  Front front;
  for (const Parts& rows : parts_of(part.height, machine_.native_height))
    for (const Parts& columns : parts_of(part.width, machine_.native_width))
      for (const bool one_step : {false, true}) {
        if (one_step ? part.steps > machine_.native_width : part.steps == 1) continue;
        const std::int64_t line = part.makes_lhs ? rows.length : columns.length;
        std::int64_t held = rows.length * columns.length;
        if (part.resting.takes_room) held += part.reduction * line;
        if (part.moving.takes_room && !part.square) held += part.reduction * (one_step ? part.steps : 1);
        if (held > machine_.capacity) continue;
        const auto tiles = static_cast<double>(rows.count * columns.count);
        double traffic = part.resting.loads(1);
        if (part.moving.loaded && !part.square) {
          double share = 1 / part.moving.readers;
          if (part.only_alike && !one_step && !part.once) {
            double alike = part.moving.readers;
            if (part.room > 0)
              alike =
                  std::min(alike, 1.0 + static_cast<double>((machine_.capacity - held) / (part.room * line)));
            share = std::max(share, tiles / alike);
          }
          traffic += part.moving.size * share;
        }
        front.add(part.compute * tiles, traffic);
      }
  front.reduce();
  return front;
}

double PartFronts::least(const RootPart& part, double alpha) {
  const auto [found, fresh] = roots_.try_emplace(part);
  if (fresh) found->second = front(part);
  return found->second.least(alpha, machine_.bandwidth);
}

double PartFronts::least(const OperandPart& part, double alpha) {
  const auto [found, fresh] = operands_.try_emplace(part);
  if (fresh) found->second = front(part);
  return found->second.least(alpha, machine_.bandwidth);
}

}  // namespace fuselage::grid

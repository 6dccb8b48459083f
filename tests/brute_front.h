// What the brute forces of priced and restricted problems have in common: the space that they search, and
// fronts of cost against bytes moved, found by trying everything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "fuselage/walk/price.h"
#include "fuselage/walk/rules.h"

namespace fuselage::walk {

struct Space {
  Price price = {};
  bool may_fuse = true;
  bool may_retain = true;
  std::optional<int> only_tile = {};
  bool fronts = true;  // else only the cheapest point is kept

  bool allows(int tile) const { return !only_tile || *only_tile == tile; }
};

struct FrontPoint {
  double cost = 0;  // cycles, prices included
  std::int64_t bytes = 0;
};

// Cheapest first, each with fewer bytes than the one before.
class Front {
 public:
  Front() = default;
  explicit Front(const FrontPoint& point) : points_{point} {}

  const std::vector<FrontPoint>& points() const { return points_; }
  // Least cost of a plan that moves at most `limit` bytes.
  double least(std::int64_t limit = std::numeric_limits<std::int64_t>::max()) const {
    for (const FrontPoint& p : points_)
      if (p.bytes <= limit) return p.cost;
    return std::numeric_limits<double>::infinity();
  }
  // Joins `other`, every point of it dearer by `step`.
  void join(const Front& other, const FrontPoint& step, bool keep_all) {
    if (other.points_.empty()) return;
    for (const FrontPoint& p : other.points_) {
      const FrontPoint sum{step.cost + p.cost, step.bytes + p.bytes};
      const bool covered = std::any_of(points_.begin(), points_.end(), [&](const FrontPoint& have) {
        return have.cost <= sum.cost && (!keep_all || have.bytes <= sum.bytes);
      });
      if (covered) continue;
      std::erase_if(points_, [&](const FrontPoint& have) {
        return sum.cost <= have.cost && (!keep_all || sum.bytes <= have.bytes);
      });
      points_.push_back(sum);
    }
    std::sort(points_.begin(), points_.end(),
              [](const FrontPoint& a, const FrontPoint& b) { return a.cost < b.cost; });
  }

 private:
  std::vector<FrontPoint> points_;
};

}  // namespace fuselage::walk

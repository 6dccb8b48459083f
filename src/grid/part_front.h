// What a matmul costs at least in its part of a kernel, over all granularities that fit: the trade between
// arithmetic and traffic as the corner points of a convex curve, so that the least of any weighted sum of the
// two is found at once. Only numbers: least_charge.cpp says which part an op may have.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fuselage/grid/instance.h"

namespace fuselage::grid {

class Front {
 public:
  void add(double compute, double traffic) { points_.push_back({compute, traffic}); }
  void reduce();  // to its corner points
  // The least of alpha x compute + (1 - alpha) x traffic / bandwidth; infinite if nothing fits.
  double least(double alpha, double bandwidth) const;

 private:
  struct Point {
    double compute;  // time units
    double traffic;  // elements
  };
  std::vector<Point> points_;
};

// One operand of a matmul. Loaded means: from slow memory in any case.
struct Operand {
  bool loaded = false;
  bool takes_room = false;  // its slices are held (not so if they are made inside the kernel)
  double readers = 1;       // in the kernel, perhaps, that share its loads
  double size = 0;          // elements of the whole

  // Elements that count: once, shared; or `times` as often if nobody shares them.
  double loads(double times) const { return !loaded ? 0 : readers > 1 ? size / readers : size * times; }
  friend auto operator<=>(const Operand&, const Operand&) = default;
};

// The op runs on the tiles of its own output.
struct RootPart {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t reduction = 0;
  double compute = 0;   // of a tile, time units
  double beside = 0;    // more, for each tile beyond the fewest
  bool square = false;  // LHS and RHS are one tensor: the RHS counts nothing
  bool once = false;    // its operands may be held whole for another demand: each is loaded once at least
  Operand lhs = {};
  Operand rhs = {};

  friend auto operator<=>(const RootPart&, const RootPart&) = default;
};

// The op makes slices of an operand of a root matmul, again for every tile of that.
struct OperandPart {
  std::int64_t height = 0;  // of the root's output
  std::int64_t width = 0;
  std::int64_t steps = 0;      // the root's K
  std::int64_t reduction = 0;  // the op's K
  bool makes_lhs = true;
  double compute = 0;    // for each tile of the root, time units
  Operand resting = {};  // moves with the tile only
  Operand moving = {};   // moves with the k-step
  bool square = false;   // they are one tensor: moving counts nothing
  // Others that read `moving` do so in the same way, so that it is loaded for every tile; each needs `room`
  // for every row (column) of the tile.
  bool only_alike = true;
  std::int64_t room = 0;
  bool once = false;  // other demands on the op may hold `moving` whole: it is loaded once at least

  friend auto operator<=>(const OperandPart&, const OperandPart&) = default;
};

// Fronts of the parts of one machine; equal parts are worked out once.
class PartFronts {
 public:
  explicit PartFronts(const Machine& machine) : machine_(machine) {}

  double least(const RootPart& part, double alpha);
  double least(const OperandPart& part, double alpha);

 private:
  Front front(const RootPart& part) const;
  Front front(const OperandPart& part) const;

  Machine machine_;
  std::map<RootPart, Front> roots_;
  std::map<OperandPart, Front> operands_;
};

}  // namespace fuselage::grid

// A set of ops as one kernel, before granularity, residency and traversal are chosen: which slices of what it
// asks for, and which arithmetic each k-step does, as symbols. Built once for a set of ops; kernel_cost.h
// then prices any granularity from it without walking the tiles (rule 13 of the contest's pricing, see
// CONTRIBUTING.md, "The grid family"). Under the fusionops rules it is no more than the ops and their
// tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// What part of an axis of a tensor an iteration asks for.
enum class Extent : std::uint8_t {
  whole,
  tile,   // the rows or columns of the tile
  slice,  // those of the k-step
};

struct Region {
  Extent rows = Extent::whole;
  Extent columns = Extent::whole;

  friend bool operator==(const Region&, const Region&) = default;
};

// When an iteration asks: in k-steps 0 ... ceil(K / k) - 1 for the K of reductions[n], or in the last one.
using Phase = std::int8_t;
inline constexpr Phase last_step = -1;

struct Need {
  Region region = {};
  Phase phase = last_step;

  friend bool operator==(const Need&, const Need&) = default;
};

struct BoundaryInput {
  TensorId tensor = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<Need> needs = {};  // distinct as symbols
};

// Arithmetic: scale x its part of the rows x its part of the columns, in the k-steps of its phase.
struct Work {
  enum class Part : std::uint8_t {
    one,       // charged in full
    tiles,     // tiles of native size, begun ones count: ceil(length / native)
    fraction,  // length / native
  };
  double scale = 0;  // time units
  Part row_part = Part::one;
  Part column_part = Part::one;
  Region region = {};
  std::int64_t height = 0;  // of the tensor that is made
  std::int64_t width = 0;
  bool per_length = false;  // and x the length of the k-step
  bool first_only = false;  // a prologue: at the first k-step only
  Phase phase = last_step;
};

class Shape {
 public:
  // `ops` in execution order, each once. Nothing is required of them: fits_rules says whether they may form a
  // kernel.
  Shape(const Instance& instance, const Rules& rules, std::span<const OpId> ops);

  std::span<const OpId> ops() const { return ops_; }
  std::span<const BoundaryInput> inputs() const { return inputs_; }  // read, not made; in order of naming
  std::span<const TensorId> made() const { return made_; }           // outputs of the ops, in their order
  bool is_sink(std::size_t made_index) const { return sink_[made_index]; }
  int sinks() const { return sinks_; }
  // Of the grid: the shape of the sinks; under fusionops what covers all that is made.
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }

  // Connected through what it makes (or, with co_consumers, through what it reads), and, under mlsys, its
  // sinks have one shape.
  bool legal() const { return legal_; }
  // False: two demands may coincide in some iterations and not in others, so that no closed form holds.
  bool closed() const { return closed_; }

  bool has_matmul() const { return least_k_ > 0; }
  std::int64_t least_k() const { return least_k_; }                         // of its matmuls; 0: none
  std::span<const std::int64_t> reductions() const { return reductions_; }  // distinct K of root matmuls
  int root_matmuls() const { return root_matmuls_; }
  std::span<const Work> works() const { return works_; }
  // Under split-k the tile must be at least this wide and high (a pointwise op feeds a matmul).
  std::int64_t split_width() const { return split_width_; }
  std::int64_t split_height() const { return split_height_; }

 private:
  struct Builder;

  std::vector<OpId> ops_;
  std::vector<BoundaryInput> inputs_;
  std::vector<TensorId> made_;
  std::vector<char> sink_;
  std::vector<Work> works_;
  std::vector<std::int64_t> reductions_;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  std::int64_t least_k_ = 0;
  std::int64_t split_width_ = 0;
  std::int64_t split_height_ = 0;
  int sinks_ = 0;
  int root_matmuls_ = 0;
  bool legal_ = false;
  bool closed_ = true;
};

}  // namespace fuselage::grid

// A kernel of the contest as its run needs it: members in execution order instead of ids, who makes what a
// member reads, which members are roots, how many tiles and k-steps there are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arithmetic.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"

namespace fuselage::grid::mlsys {

// Rows and columns of a tensor, ends excluded.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t length() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

struct Slice {
  Range rows = {};
  Range columns = {};

  std::int64_t size() const { return rows.length() * columns.length(); }  // elements
  friend bool operator==(const Slice&, const Slice&) = default;
};

inline Slice whole(const Tensor& tensor) {
  return {.rows = {.begin = 0, .end = tensor.height}, .columns = {.begin = 0, .end = tensor.width}};
}

// What a member reads: a tensor that another member makes, or one from outside.
struct MemberInput {
  static constexpr int none = -1;
  int producer = none;  // position in members
  int outside = none;   // position in outside

  bool is_outside() const { return producer == none; }
};

struct Member {
  OpId id = no_op;
  OpKind kind = OpKind::pointwise;
  double base_cost = 0;
  std::int64_t reduction = 1;  // K of a matmul
  Slice output = {};           // the whole of it
  std::vector<MemberInput> inputs = {};
  // Runs on the tile: makes a sink, or feeds a pointwise root.
  bool is_root = false;
  // Pointwise with all inputs from outside.
  bool is_prologue = false;
};

struct Outside {
  TensorId id = 0;
  Slice all = {};
};

struct KernelParts {
  std::vector<Member> members = {};
  std::vector<Outside> outside = {};    // each tensor once, as members name them
  std::vector<TensorId> sinks = {};     // made here and read by no member
  std::vector<TensorId> retained = {};  // each once, ascending
  Tensor grid = {};                     // the shape of the sinks
  Granularity granularity = {};
  std::int64_t tile_columns = 0;  // tiles side by side
  std::int64_t tiles = 0;
  std::int64_t k_steps = 1;
  int root_matmuls = 0;
};

// `kernel` must have ops that exist, each once, none before its producer, and a granularity of at least 1.
// `grid` is the shape of the first sink.
KernelParts kernel_parts(const Instance& instance, const Kernel& kernel);

}  // namespace fuselage::grid::mlsys

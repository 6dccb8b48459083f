// The neighbourhood of one kernel of a plan, in parts: what is retained, where runs of the fixed order are
// cut, and how sets of nodes are regrouped and reordered under free order. A move need not be legal: refit
// mends or refuses each of its kernels.
#pragma once

#include <cstddef>
#include <vector>

#include "fuselage/walk/problem.h"

namespace fuselage::walk {

using Move = search::Move<Kernel>;
using Moves = std::vector<Move>;

// What the moves of one kernel are made from.
struct Neighbourhood {
  const WalkProblem& problem;
  const std::vector<State>& trail;
  const std::vector<Kernel>& plan;
  std::size_t at = 0;
  Moves& out;
};

inline constexpr std::size_t moves_reach = 64;  // kernels behind `at` that a move looks at, at most

// Adds to `retain` what it lacks of `more`.
void join(IdList& retain, const IdList& more);

// One tensor more, one less, one for another. Under `physical` a tensor stays resident only while every
// kernel lists it, so a change goes on up to the kernel that reads the tensor next, or as far as it is
// retained.
class RetainMoves {
 public:
  explicit RetainMoves(const Neighbourhood& at);
  void add();

 private:
  // `id` becomes retained, or not, by the kernels [at, until).
  struct Change {
    NodeId id = -1;
    std::size_t until = 0;
  };

  void list_physical();
  void list_seed();
  void want(NodeId id, std::size_t until);
  bool fits(const IdList& retain) const;
  std::size_t next_reader(NodeId id) const;
  bool reads(const Kernel& k, NodeId id) const;
  void emit(const Change& added, const Change& dropped);

  const Neighbourhood& n_;
  const WalkProblem& p_;
  const Kernel& k_;
  std::vector<Change> adds_;
  std::vector<Change> drops_;
};

// Fixed order: the same nodes cut into kernels elsewhere.
class FixedMoves {
 public:
  explicit FixedMoves(const Neighbourhood& at) : n_(at), p_(at.problem) {}
  void add();

 private:
  void recut(std::size_t removed, int cut);
  void add_fallback();
  Kernel piece(int first, int end) const;
  bool link(Kernel& from, const Kernel& to) const;

  const Neighbourhood& n_;
  const WalkProblem& p_;
};

// Free order: sets of nodes merged, split, moved one by one, and kernels moved past each other.
class FreeMoves {
 public:
  explicit FreeMoves(const Neighbourhood& at) : n_(at), p_(at.problem) {}
  void add();

 private:
  void split();
  void merge(std::size_t other);
  void shift_nodes(std::size_t other);
  void pull_behind(std::size_t other);
  void pull_before(std::size_t other);
  void push_back();
  bool reads(const Kernel& reader, const Kernel& maker) const;
  bool reads(int position, const IdList& made) const;
  Kernel kernel_of(const IdList& nodes, const IdList& retain) const;
  bool link(Kernel& from, const Kernel& to) const;
  void emit(std::size_t first, std::size_t removed, std::vector<Kernel> added);

  const Neighbourhood& n_;
  const WalkProblem& p_;
};

}  // namespace fuselage::walk

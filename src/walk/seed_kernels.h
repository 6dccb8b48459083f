// Which kernels a state has under `seed` and `seed_honest`, where a group grows node by node and every prefix
// of it must fit. Why the declared ones suffice: problem.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuselage/walk/problem.h"
#include "id_list.h"

namespace fuselage::walk {

// The kernels of one state. Positions: the group starts at `first_` (before the state's position if it is
// open).
class SeedKernels {
 public:
  SeedKernels(const WalkProblem& problem, const State& state, std::vector<Kernel>& out);

  // False if what was declared may lack an optimum.
  bool enumerate();

 private:
  enum class Kind : std::uint8_t { retain, retain_free, buy_input, buy_output };
  struct Item {
    NodeId id;
    Kind kind;
    std::int64_t bytes;
  };

  bool dies(NodeId x, int before) const {
    const int last = p_.runs_.last_use(x);
    return last >= s_.position && last < before;
  }
  static bool inside(const Run& run, int position) { return position >= run.first && position < run.end(); }
  bool is_resident(NodeId x) const { return std::binary_search(s_.resident.begin(), s_.resident.end(), x); }
  bool can_buy(NodeId x) const { return phantoms_ && p_.can_buy(s_, x); }
  std::int64_t resident_bytes(const Run& run, int before) const;
  bool prefixes_fit(NodeId more = -1) const;

  // Groups that fit (seed_kernels.cpp).
  void close_as_is();
  void declare(const Run& run);
  void list_items(const Run& run);
  void note_unpayable(const Run& run);
  void limit_items(const Run& run);
  void choose(const Run& run, std::size_t item, std::int64_t room, std::int64_t slack);
  bool pays_needlessly(std::int64_t slack) const;
  double traffic(const Run& run) const;
  double idle_from(const Run& run, double hidden) const;
  void declare_tiles(const Run& run, std::int64_t room);
  void declare_all(const Run& run);
  void declare_every_set(const Run& run, const std::vector<NodeId>& allowed);
  Kernel& push(const Run& run, int tile, std::int64_t slack);

  // Groups that don't: their members run alone (seed_fallbacks.cpp).
  void declare_fallback(const Run& run);
  bool default_tile_is_legal() const;
  void declare_fallback_of_one(const Run& run);
  void declare_forced_fallback(const Run& run);
  bool can_pay(const Run& run) const;
  bool runs_out_alone(int position, int before) const;
  bool force(const Run& run, NodeId entry);
  bool force_alone(const Run& run, std::int64_t& slack);
  NodeId largest_dying_at(int position) const;
  double cost_alone(const Run& run) const;
  void list_bargains(const Run& run);
  void choose_fallback(const Run& run, std::size_t item, std::int64_t slack);
  void push_fallbacks(const Run& run, std::int64_t slack);
  void push_fallback(const Run& run, std::int64_t slack, std::int64_t owed);

  const WalkProblem& p_;
  const State& s_;
  std::vector<Kernel>& out_;
  int first_;
  std::int64_t capacity_;
  bool phantoms_;
  std::size_t lowest_;  // index of the smallest legal tile
  bool complete_ = true;
  std::int64_t checked_ = 0;  // bytes of residents outside the run when its last node is fused
  std::int64_t room_ = 0;     // bytes left beside them and the slices at the smallest legal tile
  boost::container::small_vector<std::int64_t, 8> prefix_room_;  // room_ of this run and the shorter ones
  boost::container::small_vector<const Run*, 8> prefix_;
  boost::container::small_vector<Item, 12> items_;
  IdList always_;
  IdList retain_;
  IdList bought_;
};

}  // namespace fuselage::walk

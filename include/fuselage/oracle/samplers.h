// Schedules to learn from, as per-node actions of an episode under `seed_honest`, from hopeless to optimal: a
// model that has only seen good ones can't tell what makes the others bad, and one that has only seen random
// ones can't tell good ones apart.
#pragma once

#include <string>
#include <vector>

#include "fuselage/search/split_mix.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

// Equal for plans that run the same kernels; the order of a retain list doesn't count.
std::string key_of(const walk::Plan& plan);

// All actions returned are legal: no fuse is refused, no retain entry dropped, and no node runs out of memory
// for which a tile fits.
class Samplers {
 public:
  // Both must outlive it.
  Samplers(const walk::EpisodeContext& context, search::SplitMix& random)
      : context_(context), random_(random) {}

  // Every decision by the toss of a coin, among those that are legal; how often to fuse and to retain is
  // drawn for the schedule.
  std::vector<walk::Action> random_legal();

  // What a sensible compiler does (fuse where possible, retain what is soon read again, the largest tile that
  // fits), but for a part `epsilon` of the decisions, which are random.
  std::vector<walk::Action> heuristic(double epsilon);

  // One change of a kernel, and another one with every coin that shows heads: split, merged with the next, a
  // node handed over, the next tile, one tensor more or less retained.
  std::vector<walk::Action> mutated(const walk::Plan& plan);

  // The plan itself as far as it is legal: entries that a kernel may not retain are left out, what doesn't
  // fit retains less, the last entries first, or takes smaller tiles.
  std::vector<walk::Action> mended(const walk::Plan& plan) const;

 private:
  struct Habits {
    double fuse = 0.5;
    double retain = 0.5;
    double random = 1;  // part of the decisions
  };
  std::vector<walk::Action> play(const Habits& habits);
  walk::Action random_action(const walk::Episode& episode, const Habits& habits);
  walk::Action sensible_action(const walk::Episode& episode);
  void change(walk::Plan& plan);

  const walk::EpisodeContext& context_;
  search::SplitMix& random_;
};

}  // namespace fuselage::oracle

// Where the plans that a tuner considers come from: the habits of a sensible compiler, changes of good plans,
// the beginning of one good plan with the end of another, and now and then something random.
#pragma once

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "fuselage/oracle/samplers.h"
#include "fuselage/oracle/tune_filter.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {

// The nodes of `a` up to a position of the order, those of `b` from there; a kernel that the cut meets is
// cut.
walk::Plan crossed(const walk::Plan& a, const walk::Plan& b, int position);

class Proposals {
 public:
  // The context must outlive it.
  Proposals(const walk::EpisodeContext& context, std::uint64_t seed)
      : context_(context), random_(seed), samplers_(context, random_) {}

  // Up to n plans that were never proposed before, fewer if none can be thought of. `parents`: good plans,
  // the best first.
  std::vector<Candidate> next(std::size_t n, std::span<const walk::Plan* const> parents);

 private:
  std::vector<walk::Action> think(std::span<const walk::Plan* const> parents);
  // Retains something else: in a fast memory that is full, one tensor more is never legal.
  walk::Plan exchanged(const walk::Plan& plan);
  // The nodes of some neighbouring kernels, grouped and tiled anew.
  walk::Plan regrouped(const walk::Plan& plan);
  const walk::Plan& parent(std::span<const walk::Plan* const> parents);

  const walk::EpisodeContext& context_;
  search::SplitMix random_;
  Samplers samplers_;
  std::unordered_set<std::string> known_;
};

}  // namespace fuselage::oracle

// Labels of the grid family: the states between two kernels that policies get into, each with what going on
// with one of several kernels is worth. Exact values are out of reach but for small problems, so a value is
// that of the best completion that any search from any state of the problem has found, and says what is
// proven: that a bound is met, that the declared space was exhausted, or nothing.
//
// An answer is the text of a step. A kernel that pays only after a step without ops (which empties fast
// memory, under the fusionops rules) takes two answers: that step, if the kernel is the best there is, and in
// the state after it the kernel. The environment's limit of steps is no part of the values; an episode ends
// where the best completion known needs more steps than are left, and that state has no labels.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/rules.h"
#include "fuselage/oracle/labelled_graph.h"
#include "fuselage/oracle/policy_mix.h"

namespace fuselage::oracle {

struct GridLabelOptions {
  PolicyMix mix = {};  // parse_grid_policy_mix
  int episodes = 3;    // drawn from the mix
  std::uint64_t seed = 0;
  // Kernels priced, at most, by the search from one state; the first search, from the start, gets
  // `first_share` times as many, and where every group of ops is declared enough to go through them all.
  std::uint64_t steps = 5'000;
  // Kernels of a state that are labelled, beside what an episode did there: the best known, others that look
  // good, and as many that are drawn.
  std::size_t most_candidates = 8;
  const std::atomic<bool>* cancel = nullptr;
};
inline constexpr std::uint64_t first_share = 20;

// None if it was cancelled. Error if an op fits fast memory at no granularity.
std::optional<LabelledGraph> label_grid(const std::string& name, const grid::Instance& instance,
                                        const grid::Rules& rules, const GridLabelOptions& options);

// Steps of an episode: those of the fixed task if the problem is one, else 20 or, if that is more, two an op.
// No limit under mlsys.
int grid_max_steps(const grid::Instance& instance, const grid::Rules& rules);

// Is it one of the four fixed tasks of fusionops, whatever its machine and numbering?
bool is_grid_task(const grid::Instance& instance);

}  // namespace fuselage::oracle

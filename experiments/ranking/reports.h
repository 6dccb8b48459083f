// The three reports of the experiment.
#pragma once

#include <string>
#include <vector>

#include "contest.h"
#include "machines.h"
#include "variants.h"

namespace fuselage::experiments {

// `ranking`: every ranker on every set, and the bars.
Report ranking_report(const std::vector<Standing>& standings);

// `noise`: what changes that should not matter do to the order; before and after by variant, at the numbers
// first, first + 1 for the first one, and so on, in the contest.
Report noise_report(const Contest& contest, std::size_t first, const std::vector<Variant>& variants);

// `transfer`: every machine; its set is number first + i in the contest.
struct OnMachine {
  MachineSpec machine;
  Set set;
};
Report transfer_report(const Contest& contest, std::size_t first, const std::vector<OnMachine>& machines);

}  // namespace fuselage::experiments

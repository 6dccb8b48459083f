// The filters that are compared: none, what a bag of actions says, the recurrent model, the same with a
// ranker that is refitted on what was measured, and the exact order, which no model can beat.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "drawn.h"
#include "fuselage/learn/flat_trees.h"
#include "fuselage/learn/schedule_model.h"
#include "fuselage/oracle/tune_filter.h"

namespace fuselage::experiments {

enum class FilterKind { none, bag, recurrent, refit, exact };
inline constexpr std::array<std::string_view, 5> filter_names = {"none", "action bag", "recurrent",
                                                                 "recurrent, refit", "exact order"};

// Trained on graphs of one kind.
struct Learned {
  const learn::ScheduleModel& model;
  learn::FlatTrees bag;
};

// XGBoost, rank:pairwise, on sums, means and maxima of what ops and actions say, nothing about residency.
learn::FlatTrees train_bag(const Set& train);

// All must outlive it; none for FilterKind::none.
std::unique_ptr<oracle::Filter> make_filter(FilterKind kind, const walk::EpisodeContext& context,
                                            const Workload& workload, const Learned& learned,
                                            std::uint64_t seed);

}  // namespace fuselage::experiments

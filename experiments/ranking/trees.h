// Rankers of rows by gradient-boosted trees, with either objective.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rankers.h"

namespace fuselage::experiments {

// Numbers of every schedule of a set, the same count for each.
using Rows = std::function<std::vector<float>(const Set&)>;

// "NAME" by rank:pairwise, "NAME, ndcg" by rank:ndcg on five levels of relevance: within 1, 5, 15, 40 % of
// the best of the group, or not.
std::vector<Trained> train_trees(const std::string& name, const Rows& rows, const Set& train,
                                 const Recipe& recipe);

// Of every group as many rows as there are schedules of it.
std::vector<std::uint32_t> group_sizes(const learn::Schedules& set);

}  // namespace fuselage::experiments

// What rankers without a state see of a schedule: baselines that say what a recurrent model's memory is
// worth. A bag adds up the tokens of a schedule and knows no order; a window shows a model without a latent
// (TransitionKind::still) the last few tokens at once. Both come out as schedules again, so that they are
// trained and scored as any others; a bag is a schedule of one token.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fuselage/core/schema.h"
#include "fuselage/learn/schedules.h"

namespace fuselage::learn {

// The places of these features in a row. Error that names the schema if one is missing.
std::vector<std::size_t> columns_of(const Schema& schema, std::span<const std::string> names);

// For every schedule one token: the sums of the given features over its tokens, then their means, then their
// maxima, all 0 without tokens. It adds to the cost what the whole schedule does.
Schedules bags_of(const Schedules& set, std::span<const std::size_t> columns);

// For every token the features of the `width` tokens that end with it, the oldest first; 0 before the
// schedule's first token.
Schedules windows_of(const Schedules& set, std::size_t width);

// A group's workload features behind each of its schedules' only token: rows for trees, [features + facts]
// numbers a schedule. Error if a schedule hasn't one token.
std::vector<float> rows_of(const Schedules& bags);

}  // namespace fuselage::learn

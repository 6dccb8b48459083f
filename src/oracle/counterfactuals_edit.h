// The edits of a workload that change one fact.
#pragma once

#include <optional>
#include <vector>

#include "fuselage/oracle/counterfactuals.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

struct Edit {
  enum class What : std::uint8_t { capacity, depth, add_edge, remove_edge };
  What what = What::capacity;
  std::int64_t value = 0;  // the new capacity or depth
  NodeId from = 0;
  NodeId to = 0;

  friend auto operator<=>(const Edit&, const Edit&) = default;
};

// None if the order of the nodes would be another.
std::optional<Workload> edited(const Workload& workload, const Edit& edit);

// One of those that change a fact of the kind at this state; none if there is none.
std::optional<Edit> draw_edit(const walk::Episode& episode, FactKind kind, search::SplitMix& random);

Fact fact_of(const walk::Episode& episode, FactKind kind, const Edit& edit);

// The fields of the observation that state the fact, sorted.
std::vector<std::string> stating_fields(const walk::Episode& episode, FactKind kind, const Edit& edit);

}  // namespace fuselage::oracle

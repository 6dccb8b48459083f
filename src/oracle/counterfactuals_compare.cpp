#include "counterfactuals_compare.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fuselage/core/cost.h"
#include "fuselage/core/json.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

// Values are sums in different orders; cycles that differ by less are equal.

bool contains(const std::vector<Action>& actions, const Action& action) {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

bool is_as_said(const Episode& after) {
  return after.error().kind == walk::StepError::Kind::none && after.dropped().empty();
}

// None if a value isn't proven.
std::optional<CounterfactualWorld> seen_from(const Side& side, const std::vector<Action>& actions,
                                             const std::vector<Action>& optimal_elsewhere) {
  CounterfactualWorld world{.workload = side.workload.workload(),
                            .prompt = side.episode.observation(),
                            .spent = side.episode.total_latency(),
                            .value = side.judged.value,
                            .optimal = side.judged.optimal,
                            .refuses = true};
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Action& action : actions) {
    Episode after = side.episode;
    after.step(action);
    const Value value = side.workload.values.value(after);
    if (!value.proven) return std::nullopt;
    world.q.push_back(value.cycles + (after.total_latency() - side.episode.total_latency()));
    if (!contains(optimal_elsewhere, action)) continue;
    least = std::min(least, world.q.back());
    most = std::max(most, world.q.back());
    world.refuses = world.refuses && !is_as_said(after);
  }
  const auto lost = [&](double q) { return !meets(world.value, q) ? q - world.value : 0; };
  world.loss = lost(least);
  world.worst_loss = lost(most);
  return world;
}

Difference difference_of(const std::vector<Action>& a, const std::vector<Action>& b) {
  const auto common = static_cast<std::size_t>(
      std::count_if(a.begin(), a.end(), [&](const Action& action) { return contains(b, action); }));
  if (common == 0) return Difference::disjoint;
  return common == a.size() && common == b.size() ? Difference::same : Difference::overlapping;
}

bool holds_objects(const Json& list) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_object(); });
}

void collect_changes(const std::string& path, const Json& a, const Json& b, std::vector<std::string>& out) {
  if (a == b) return;
  if (a.is_object() && b.is_object()) {
    std::set<std::string> keys;
    for (const Json* side : {&a, &b})
      for (const auto& [key, value] : side->items()) keys.insert(key);
    for (const std::string& key : keys)
      collect_changes(path_with_key(path, key), a.value(key, Json()), b.value(key, Json()), out);
  } else if (holds_objects(a) && holds_objects(b) && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i)
      collect_changes(path_with_index(path, i), a.at(i), b.at(i), out);
  } else {
    out.push_back(path);
  }
}

}  // namespace

std::vector<std::string> changed_fields(std::string_view observation_a, std::string_view observation_b) {
  std::vector<std::string> fields;
  collect_changes("", parse_json(observation_a, "the first observation"),
                  parse_json(observation_b, "the second observation"), fields);
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::optional<JudgedState> judge(JudgedWorkload& workload, const Episode& episode) {
  const StateLabels labels = workload.values.labels(episode);
  bool proven = labels.value.proven;
  double least = labels.value.cycles;
  for (const ActionValue& one : labels.actions) {
    proven = proven && one.value.proven;
    least = std::min(least, one.value.cycles);
  }
  if (!proven) return std::nullopt;
  JudgedState result{.value = least};
  for (const ActionValue& one : labels.actions) {
    result.canonical.push_back(one.action);
    if (meets(least, one.value.cycles)) result.optimal.push_back(one.action);
  }
  return result;
}

std::optional<Episode> replayed(const JudgedWorkload& workload, walk::Rules rules,
                                const std::vector<Action>& actions) {
  Episode episode(workload.context, {.rules = rules});
  for (const Action& action : actions) {
    episode.step(action);
    if (!is_as_said(episode)) return std::nullopt;
  }
  return episode;
}

std::optional<Counterfactual> compared(const Side& a, const Side& b) {
  std::vector<Action> actions = a.judged.canonical;
  for (const Action& action : b.judged.canonical)
    if (!contains(a.judged.canonical, action)) actions.push_back(action);
  auto world_a = seen_from(a, actions, b.judged.optimal);
  auto world_b = seen_from(b, actions, a.judged.optimal);
  if (!world_a || !world_b) return std::nullopt;
  Counterfactual pair{.a = *std::move(world_a), .b = *std::move(world_b)};
  pair.difference = difference_of(a.judged.optimal, b.judged.optimal);
  pair.actions = std::move(actions);
  pair.changed_fields = changed_fields(pair.a.prompt, pair.b.prompt);
  return pair;
}

}  // namespace fuselage::oracle

#include <cmath>
#include <limits>

#include "fuselage/search/outcome.h"
#include "headroom_report.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Headroom;
using oracle::Solution;

ordered_json or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json published_json(const std::optional<oracle::Published>& published) {
  if (!published) return nullptr;
  return {{"score_3b", published->score_3b}, {"score_8b", published->score_8b}};
}

ordered_json solution_json(const Solution& solution) {
  ordered_json json = {
      {"latency", solution.found ? ordered_json(solution.latency) : ordered_json(nullptr)},
      {"overflows", solution.found ? ordered_json(solution.overflows) : ordered_json(nullptr)},
      {"proof", search::name(solution.proof)},
      {"lower_bound", or_null(solution.lower_bound)},
      {"infeasible", solution.infeasible.has_value()},
      {"stop", name(solution.stop)},
      {"steps", solution.steps},
      {"seconds", solution.seconds}};
  return json;
}

void add_gain(ordered_json& json, const Headroom& headroom, const std::optional<double>& latency) {
  json["improvement"] = or_null(latency ? headroom.improvement(*latency) : std::nullopt);
  json["score"] = or_null(latency ? headroom.score(*latency) : std::nullopt);
}

ordered_json policies_json(const Headroom& headroom) {
  ordered_json policies = ordered_json::array();
  for (const oracle::Played& played : headroom.policies) {
    ordered_json json = {{"name", played.policy.name}, {"latency", or_null(played.latency)}};
    add_gain(json, headroom, played.latency);
    json["kernels"] = played.plan.size();
    json["illegal"] = played.fault.empty() ? ordered_json(nullptr) : ordered_json(played.fault);
    policies.push_back(std::move(json));
  }
  return policies;
}

ordered_json headroom_of_rules_json(const Headroom& headroom) {
  const Solution& optimum = headroom.optimum;
  ordered_json best = solution_json(optimum);
  add_gain(best, headroom, optimum.found ? std::optional(optimum.latency) : std::nullopt);
  best["root_bound"] = or_null(headroom.root_bound);
  ordered_json decisions = ordered_json::array();
  for (const oracle::Decision& decision : headroom.decisions) {
    ordered_json json = {{"name", decision.name}};
    json.update(solution_json(decision.solution));
    json["loss"] = or_null(headroom.loss(decision));
    decisions.push_back(std::move(json));
  }
  return {{"rules", name(headroom.rules)},
          {"naive_latency", or_null(optimum.naive_latency)},
          {"greedy_latency", or_null(optimum.greedy_latency)},
          {"policies", policies_json(headroom)},
          {"best_constant", headroom.best_constant().policy.name},
          {"optimum", std::move(best)},
          {"decisions", std::move(decisions)}};
}

ordered_json answer_json(const HeadroomAnswer& answer) {
  ordered_json rules = ordered_json::array();
  for (const Headroom& headroom : answer.headrooms) rules.push_back(headroom_of_rules_json(headroom));
  return {{"name", answer.name},
          {"ops", answer.ops},
          {"error", answer.error.empty() ? ordered_json(nullptr) : ordered_json(answer.error)},
          {"published", published_json(answer.published)},
          {"rules", std::move(rules)}};
}

ordered_json tasks_json(const oracle::TaskSet& set) {
  ordered_json tasks = ordered_json::array();
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i]) tasks.push_back(oracle::published()[i].task);
  return tasks;
}

}  // namespace

ordered_json headroom_json(const std::vector<HeadroomAnswer>& answers, const Budget& budget) {
  ordered_json results = ordered_json::array();
  for (const HeadroomAnswer& answer : answers) results.push_back(answer_json(answer));
  const bool counted = budget.steps != std::numeric_limits<std::uint64_t>::max();
  const oracle::PublishedUnseen unseen = oracle::published_unseen();
  return {{"budget",
           {{"steps", counted ? ordered_json(budget.steps) : ordered_json(nullptr)},
            {"seconds", or_null(budget.wall_seconds)}}},
          {"unseen",
           {{"score_3b", unseen.score_3b},
            {"score_8b", unseen.score_8b},
            {"constant 128, fusing", unseen.fusing_128},
            {"constant 256, fusing", unseen.fusing_256}}},
          {"results", std::move(results)}};
}

ordered_json claims_json(const std::vector<oracle::Claim>& claims) {
  ordered_json result = ordered_json::array();
  for (const oracle::Claim& claim : claims) {
    ordered_json readings = ordered_json::array();
    for (const oracle::ClaimReading& reading : claim.readings) {
      ordered_json values = ordered_json::object();
      for (std::size_t i = 0; i < reading.values.size(); ++i)
        values[std::string(oracle::published()[i].task)] = or_null(reading.values[i]);
      readings.push_back({{"name", reading.name},
                          {"definition", reading.definition},
                          {"rules", reading.rules},
                          {"scope", tasks_json(reading.scope)},
                          {"values", std::move(values)},
                          {"proven", reading.proven},
                          {"within", tasks_json(claim.within(reading))},
                          {"holds", claim.holds(reading)}});
    }
    result.push_back({{"claim", claim.name},
                      {"text", claim.text},
                      {"low", claim.low / 100.0},
                      {"high", claim.high / 100.0},
                      {"scope", tasks_json(claim.scope)},
                      {"readings", std::move(readings)}});
  }
  return {{"claims", std::move(result)}};
}

}  // namespace fuselage::cli

#include <algorithm>

#include "regret_report.h"
#include "regret_summary.h"
#include "report_cells.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::EpisodeRegret;
using oracle::RegretParts;
using oracle::StepRegret;

// "fusion broken" as a key.
std::string key_of(std::string_view cause) {
  std::string key(cause);
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

template <class Values>
ordered_json causes_json(const Values& by_cause) {
  ordered_json json = ordered_json::object();
  for (std::size_t i = 0; i < by_cause.size(); ++i) json[key_of(oracle::cause_names[i])] = by_cause[i];
  return json;
}

ordered_json parts_json(const RegretParts& parts) {
  return {{"total", parts.total()},
          {"fuse", parts.fuse()},
          {"tile", parts.tile()},
          {"retain", parts.retain()},
          {"causes", causes_json(parts.by_cause)}};
}

ordered_json action_json(const walk::Action& action) {
  return {{"fuse_with_prev", action.fuse_with_prev}, {"tile", action.tile}, {"retain", action.retain}};
}

ordered_json faults_json(const std::vector<oracle::RetainFault>& faults) {
  ordered_json json = ordered_json::array();
  for (const oracle::RetainFault& fault : faults)
    json.push_back({{"tensor", fault.tensor}, {"cycles", fault.cycles}});
  return json;
}

ordered_json step_json(const StepRegret& step) {
  return {{"node", step.node},
          {"taken", action_json(step.taken)},
          {"best", action_json(step.best)},
          {"regret", parts_json(step.regret)},
          {"right_tile", step.right_tile},
          {"missed", faults_json(step.missed)},
          {"needless", faults_json(step.needless)},
          {"reward", step.reward},
          {"gap", step.gap},
          {"proven", step.proven}};
}

ordered_json means_json(const RegretMeans& means) {
  return {{"name", means.name},
          {"episodes", means.episodes},
          {"unfinished", means.unfinished},
          {"unread", means.unread},
          {"unproven", means.unproven},
          {"regret", number_or_null(means.regret)},
          {"causes", causes_json(means.by_cause)},
          {"score", number_or_null(means.score)},
          {"return", number_or_null(means.episode_return)}};
}

ordered_json rows_json(const std::vector<RegretMeans>& rows) {
  ordered_json json = ordered_json::array();
  for (const RegretMeans& row : rows) json.push_back(means_json(row));
  return json;
}

}  // namespace

ordered_json episode_json(const JudgedEpisode& one) {
  const EpisodeRegret& regret = one.regret;
  ordered_json json = {{"file", one.file},
                       {"line", one.line},
                       {"name", one.name},
                       {"policy", one.policy},
                       {"rules", walk::name(one.rules)},
                       {"ops", one.ops},
                       {"complete", regret.complete},
                       {"unread", regret.unread},
                       {"unused", regret.unused},
                       {"latency", regret.latency},
                       {"optimum", regret.optimum},
                       {"proven", regret.proven},
                       {"score", regret.complete ? ordered_json(regret.score) : ordered_json()},
                       {"return", regret.episode_return},
                       {"regret", parts_json(regret.regret)},
                       {"steps", ordered_json::array()}};
  for (const StepRegret& step : regret.steps) json["steps"].push_back(step_json(step));
  return json;
}

ordered_json summaries_json(const std::vector<JudgedEpisode>& all) {
  ordered_json json = ordered_json::array();
  for (const RegretSummary& summary : summaries(all))
    json.push_back({{"rules", walk::name(summary.rules)},
                    {"episodes", summary.episodes},
                    {"by_task", rows_json(summary.by_task)},
                    {"by_policy", rows_json(summary.by_policy)}});
  return json;
}

}  // namespace fuselage::cli

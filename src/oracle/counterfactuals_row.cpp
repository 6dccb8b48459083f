#include <nlohmann/json.hpp>

#include "fuselage/graph/graph_json.h"
#include "fuselage/learn/trajectory_file.h"
#include "fuselage/oracle/counterfactuals.h"
#include "fuselage/oracle/trajectories.h"
#include "fuselage/walk/answer.h"

namespace fuselage::oracle {
namespace {

std::vector<std::string> texts_of(const std::vector<walk::Action>& actions) {
  std::vector<std::string> texts;
  for (const walk::Action& action : actions) texts.push_back(walk::answer_text(action));
  return texts;
}

std::string graph_text(const Workload& workload) {
  std::string line = workload_to_json_line(workload);
  line.pop_back();
  return line;
}

}  // namespace

std::string to_json_line(const Counterfactual& pair, const CounterfactualOrigin& origin) {
  const CounterfactualWorld& a = pair.a;
  const CounterfactualWorld& b = pair.b;
  const std::string hash = graph_hash(a.workload.graph);
  const nlohmann::ordered_json row = {
      {"id", origin.id},
      {"kind", name(pair.fact.kind)},
      {"differs", name(pair.difference)},
      {"prompt_a", a.prompt},
      {"prompt_b", b.prompt},
      {"optimal_a", texts_of(a.optimal)},
      {"optimal_b", texts_of(b.optimal)},
      {"fact",
       {{"kind", name(pair.fact.kind)},
        {"what", pair.fact.what},
        {"before", pair.fact.before},
        {"after", pair.fact.after},
        {"edit", pair.fact.edit}}},
      {"changed_fields", pair.changed_fields},
      {"clean", pair.is_clean()},
      {"actions", texts_of(pair.actions)},
      {"q_a", a.q},
      {"q_b", b.q},
      {"spent_a", a.spent},
      {"spent_b", b.spent},
      {"value_a", a.value},
      {"value_b", b.value},
      {"loss_a_in_b", b.loss},
      {"loss_b_in_a", a.loss},
      {"worst_loss_a_in_b", b.worst_loss},
      {"worst_loss_b_in_a", a.worst_loss},
      {"relative_loss_a_in_b", b.relative_loss()},
      {"relative_loss_b_in_a", a.relative_loss()},
      {"a_refused_in_b", b.refuses},
      {"b_refused_in_a", a.refuses},
      {"proof", "optimal"},
      {"rules", walk::name(origin.rules)},
      {"step", pair.prefix.size()},
      {"prefix", texts_of(pair.prefix)},
      {"graph", a.workload.name},
      {"graph_seed", origin.graph_seed},
      {"level", origin.level},
      {"graph_hash", hash},
      {"split", learn::split_names[static_cast<std::size_t>(learn::split_of(hash))]},
      {"graph_a", graph_text(a.workload)},
      {"graph_b", graph_text(b.workload)}};
  return row.dump() + "\n";
}

}  // namespace fuselage::oracle

#include <array>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/episode.h"
#include "replay_kinds.h"
#include "replay_proof.h"

namespace fuselage::oracle {
namespace {

using walk::Rules;

// `args` says where the graph is from; the graph itself is what counts.
constexpr std::array<std::string_view, 6> row_fields = {"name",           "args", "graph",
                                                        "greedy_latency", "seed", "seed-honest"};
constexpr std::array<std::string_view, 3> optimum_fields = {"optimum", "groups", "actions"};
constexpr std::array<std::string_view, 3> group_fields = {"nodes", "tile", "retain"};

// Plays actions to the end; the latency must be `wanted` to the bit. `whose` actions: recorded or ours.
void check_actions(const walk::EpisodeContext& context, Rules rules, const std::vector<walk::Action>& actions,
                   double wanted, std::string_view whose, const JsonField& at, RowCheck& check) {
  walk::Episode episode(context, {.rules = rules});
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (episode.done())
      return check.differs(at, fmt::format("{} actions go on after the episode's end", whose));
    episode.step(actions[i]);
    if (!episode.dropped().empty())
      return check.differs(at, fmt::format("{} action {} retains {}, which the rules don't let it", whose, i,
                                           episode.dropped().front()));
  }
  check.expect(episode.done(), at, fmt::format("{} actions end before the episode does", whose));
  check.expect(same_bits(episode.total_latency(), wanted), at,
               fmt::format("{} actions: expected a latency of {}, got {}", whose, exact_text(wanted),
                           exact_text(episode.total_latency())));
}

void check_groups(const Workload& workload, Rules rules, const JsonField& groups, double wanted,
                  RowCheck& check) {
  for (std::size_t i = 0, count = groups.array_size(); i < count; ++i) groups.element(i).only(group_fields);
  const Simulation priced =
      simulate(workload.graph, workload.hardware, read_recorded_plan(groups), {.rules = rules});
  if (priced.fault)
    return check.differs(groups, fmt::format("expected a legal plan, got {}", priced.fault->message));
  check.expect(
      same_bits(priced.latency, wanted), groups,
      fmt::format("expected a latency of {}, got {}", exact_text(wanted), exact_text(priced.latency)));
}

void check_optimum(const Workload& workload, const walk::EpisodeContext& context, Rules rules,
                   const JsonField& recorded, RowCheck& check) {
  recorded.only(optimum_fields);
  const JsonField optimum = recorded.required("optimum");
  const JsonField actions = recorded.required("actions");
  const double wanted = optimum.number(0);
  const Answer ours = prove(workload, {.rules = rules}, optimum, check);
  check.expect(ours.proven.has_value(), optimum, fmt::format("expected {}, got no plan", exact_text(wanted)));
  if (ours.proven) check.optimum(optimum, ours.proven->cost);
  check_groups(workload, rules, recorded.required("groups"), wanted, check);
  check_actions(context, rules, read_recorded_actions(actions), wanted, "the recorded", actions, check);
  if (ours.proven)
    check_actions(context, rules, actions_of(ours.proven->plan), ours.proven->cost, "our plan's", optimum,
                  check);
}

}  // namespace

void replay_optima(const JsonField& row, RowCheck& check) {
  row.only(row_fields);
  const Workload workload = read_graph(row.required("graph"), row.required("name").string());
  const walk::EpisodeContext context(workload);
  check.number(row.required("greedy_latency"), context.greedy_latency());
  for (const Rules rules : {Rules::seed, Rules::seed_honest})
    if (const auto recorded = row.optional(name(rules)))
      check_optimum(workload, context, rules, *recorded, check);
}

}  // namespace fuselage::oracle

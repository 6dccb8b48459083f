// Pairs of observations that differ in one fact: what they say can be found again from their rows alone.

#include "fuselage/oracle/counterfactuals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "brute_episode.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/counterfactuals_mix.h"
#include "fuselage/oracle/values.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/tasks.h"
#include "random_graphs.h"

namespace fuselage::oracle {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;
using walk::Action;
using walk::Episode;
using walk::EpisodeContext;
using walk::Rules;

constexpr std::array all_kinds = {FactKind::uses, FactKind::capacity, FactKind::depth, FactKind::edge};

// A graph as the environment's training draws it.
Workload drawn(int seed) {
  PythonRandom random(seed);
  return walk::generate_curriculum(0.2 + 0.1 * (seed % 6), random);
}

// Of every kind, from some tries each.
std::vector<Counterfactual> pairs_of(const Workload& workload, const CounterfactualOptions& options,
                                     int tries) {
  CounterfactualSearch search(workload, options);
  std::vector<Counterfactual> pairs;
  std::optional<Counterfactual> pair;
  for (const FactKind kind : all_kinds) {
    for (int i = 0; i < tries; ++i) {
      const Attempt attempt = search.attempt(kind, pair);
      EXPECT_EQ(attempt == Attempt::pair, pair.has_value());
      if (pair) pairs.push_back(*std::move(pair));
    }
  }
  return pairs;
}

Workload parsed(const Json& text) {
  return read_workloads(text.get<std::string>(), "row").front();
}

std::set<std::string> texts(const Json& list) {
  return list.get<std::set<std::string>>();
}

// The canonical actions of least Q, by one search for each of them. Under `seed` one that names a tensor that
// isn't there counts if no other is as good.
std::set<std::string> optimal_of(const Episode& episode) {
  const std::vector<ActionValue> values = q_values(episode);
  const std::size_t declared = declared_actions(episode).size();
  const double most = value_to_go(episode).cycles * (1 + 1e-9);
  std::set<std::string> result;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].value.cycles <= most && (i < declared || result.empty()))
      result.insert(walk::answer_text(values[i].action));
  return result;
}

// A side of a row, built again from its graph and the prefix.
struct Again {
  EpisodeContext context;
  Episode episode;
  Again(const Json& row, const std::string& side)
      : context(parsed(row.at("graph_" + side))),
        episode(context, {.rules = *walk::parse_rules(row.at("rules").get<std::string>())}) {
    for (const Json& answer : row.at("prefix")) {
      episode.step(walk::parse_answer(answer.get<std::string>()).value());
      EXPECT_EQ(episode.error().kind, walk::StepError::Kind::none);
      EXPECT_TRUE(episode.dropped().empty());
    }
  }
};

void expect_as_replayed(const Json& row, const std::string& side) {
  const Again again(row, side);
  EXPECT_EQ(row.at("prompt_" + side), again.episode.observation());
  EXPECT_EQ(row.at("spent_" + side), again.episode.total_latency());
  EXPECT_EQ(texts(row.at("optimal_" + side)), optimal_of(again.episode)) << row.at("id");
  const auto& actions = row.at("actions");
  for (std::size_t i = 0; i < actions.size(); i += 7) {  // one search each
    const Action action = walk::parse_answer(actions.at(i).get<std::string>()).value();
    const double expected = q_value(again.episode, action).cycles;
    EXPECT_NEAR(row.at("q_" + side).at(i).get<double>(), expected, 1e-9 * expected);
  }
}

TEST(Counterfactuals, rows_can_be_checked_by_replaying_them) {
  int rows = 0;
  for (const Rules rules : {Rules::seed_honest, Rules::seed}) {
    for (int seed = 0; seed < 4; ++seed) {
      for (const Counterfactual& pair : pairs_of(drawn(seed), {.rules = rules, .seed = 5}, 12)) {
        const Json row = Json::parse(to_json_line(pair, {.id = "x", .rules = rules}));
        for (const std::string side : {"a", "b"}) expect_as_replayed(row, side);
        ++rows;
      }
    }
  }
  EXPECT_GT(rows, 60);
}

// What the texts differ in, found from the texts; the state is the same but for it.
TEST(Counterfactuals, texts_differ_in_the_fact_alone) {
  std::array<int, 4> pairs = {};
  for (int seed = 0; seed < 8; ++seed) {
    for (const Counterfactual& pair : pairs_of(drawn(seed), {.clean = seed % 2 == 0}, 25)) {
      std::vector<std::string> fields = changed_fields(pair.a.prompt, pair.b.prompt);
      EXPECT_EQ(fields, pair.changed_fields);
      EXPECT_EQ(std::erase(fields, "greedy_baseline") == 0, pair.is_clean());
      EXPECT_TRUE(seed % 2 == 1 || pair.is_clean());
      const Json a = Json::parse(pair.a.prompt);
      const Json b = Json::parse(pair.b.prompt);
      ++pairs[static_cast<std::size_t>(pair.fact.kind)];
      if (pair.fact.kind == FactKind::edge) {
        EXPECT_EQ(fields.size(), 2U) << pair.fact.edit;
        EXPECT_EQ(std::count_if(fields.begin(), fields.end(),
                                [](const std::string& field) { return field.ends_with("inputs"); }),
                  1);
        continue;
      }
      EXPECT_THAT(fields, ElementsAre(pair.fact.what));
      const auto value = [&](const Json& observation) {
        if (pair.fact.kind != FactKind::uses) return observation.at(pair.fact.what).get<std::int64_t>();
        return observation.at("future_uses")
            .value(pair.fact.what.substr(std::string("future_uses.").size()), std::int64_t{0});
      };
      EXPECT_EQ(value(a), pair.fact.before);
      EXPECT_EQ(value(b), pair.fact.after);
    }
  }
  EXPECT_THAT(pairs, Each(Gt(10)));
}

TEST(Counterfactuals, only_the_fact_is_edited) {
  for (int seed = 0; seed < 6; ++seed) {
    const Workload workload = drawn(seed);
    for (const Counterfactual& pair : pairs_of(workload, {}, 20)) {
      EXPECT_EQ(workload_to_json(pair.a.workload), workload_to_json(workload));
      const Graph& a = pair.a.workload.graph;
      const Graph& b = pair.b.workload.graph;
      EXPECT_TRUE(std::ranges::equal(a.order(), b.order()));
      int edges = 0;
      for (NodeId id = 0; id < a.size(); ++id) {
        edges += std::abs(static_cast<int>(a.inputs(id).size()) - static_cast<int>(b.inputs(id).size()));
        EXPECT_EQ(a.node(id).flops, b.node(id).flops);
      }
      const bool of_edge = pair.fact.kind == FactKind::uses || pair.fact.kind == FactKind::edge;
      EXPECT_EQ(edges, of_edge ? 1 : 0);
      EXPECT_EQ(pair.a.workload.hardware == pair.b.workload.hardware, of_edge);
    }
  }
}

TEST(Counterfactuals, differences_and_losses_agree) {
  std::array<int, 3> seen = {};
  for (int seed = 0; seed < 10; ++seed) {
    for (const Counterfactual& pair : pairs_of(drawn(seed), {}, 60)) {
      ++seen[static_cast<std::size_t>(pair.difference)];
      std::vector<Action> common;
      for (const Action& action : pair.a.optimal)
        if (std::find(pair.b.optimal.begin(), pair.b.optimal.end(), action) != pair.b.optimal.end())
          common.push_back(action);
      switch (pair.difference) {
        case Difference::disjoint:
          EXPECT_TRUE(common.empty());
          EXPECT_GT(pair.a.loss + pair.b.loss, 0);
          break;
        case Difference::overlapping:
          EXPECT_FALSE(common.empty());
          EXPECT_LT(common.size(), std::max(pair.a.optimal.size(), pair.b.optimal.size()));
          EXPECT_EQ(pair.a.loss + pair.b.loss, 0);
          EXPECT_GT(pair.a.worst_loss + pair.b.worst_loss, 0);
          break;
        case Difference::same:
          EXPECT_EQ(pair.a.optimal, pair.b.optimal);
          EXPECT_EQ(pair.a.worst_loss + pair.b.worst_loss, 0);
          break;
      }
      EXPECT_GE(pair.b.relative_loss(), 0);
      EXPECT_LE(pair.b.loss, pair.b.worst_loss);
    }
  }
  EXPECT_THAT(seen, Each(Gt(10)));
}

// Stepping the game with every action of both worlds.
TEST(Counterfactuals, values_equal_brute_force) {
  Dice dice(71);
  int checked = 0;
  for (int i = 0; i < 60; ++i) {
    const Workload workload = random_workload(dice, {.nodes = 3});
    for (const Counterfactual& pair : pairs_of(workload, {.seed = static_cast<std::uint64_t>(i)}, 4)) {
      for (const CounterfactualWorld* world : {&pair.a, &pair.b}) {
        const EpisodeContext context(world->workload);
        walk::BruteEpisode brute(context);
        walk::Played played{Episode(context, {.rules = Rules::seed_honest}), {}};
        for (const Action& action : pair.prefix) played.step(action);
        const double least = brute.value(played);
        EXPECT_NEAR(world->value, least, 1e-9 * least);
        for (std::size_t k = 0; k < pair.actions.size(); ++k) {
          walk::Played next = played;
          next.step(pair.actions[k]);
          const double q = next.episode.total_latency() - played.episode.total_latency() + brute.value(next);
          EXPECT_NEAR(world->q[k], q, 1e-9 * q);
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(Counterfactuals, a_value_that_is_not_proven_is_no_pair) {
  CounterfactualSearch search(walk::make_task(walk::tasks()[3]), {.budget = {.steps = 1}});
  std::optional<Counterfactual> pair;
  EXPECT_EQ(search.attempt(FactKind::depth, pair), Attempt::unproven);
  EXPECT_FALSE(pair);
}

TEST(ChangedFields, are_named_by_their_paths) {
  EXPECT_THAT(changed_fields(R"({"a":1,"u":{"3":1},"l":[{"id":1,"in":[1]}],"f":[1,2]})",
                             R"({"a":1,"u":{"3":1,"4":2},"l":[{"id":1,"in":[1,2]}],"f":[2,1]})"),
              ElementsAre("f", "l[0].in", "u.4"));
  EXPECT_TRUE(changed_fields(R"({"a":1})", R"({"a":1})").empty());
}

std::vector<std::string> rows_of(const CounterfactualMixOptions& options, int graphs) {
  CounterfactualMix mix(options);
  std::vector<std::string> rows;
  for (int i = 0; i < graphs; ++i)
    for (const Counterfactual& pair : mix.next(drawn(i), {.seed = static_cast<std::uint64_t>(i)}))
      rows.push_back(to_json_line(pair, {.id = std::to_string(rows.size())}));
  return rows;
}

TEST(CounterfactualMix, is_balanced_and_the_same_again) {
  const CounterfactualMixOptions options{.per_graph = 4, .same = 0.5, .tries = 150};
  const std::vector<std::string> rows = rows_of(options, 12);
  EXPECT_EQ(rows, rows_of(options, 12));
  std::map<std::string, int> kinds;
  int same = 0;
  for (const std::string& text : rows) {
    const Json row = Json::parse(text);
    ++kinds[row.at("kind").get<std::string>()];
    same += row.at("differs") == "same" ? 1 : 0;
  }
  EXPECT_EQ(kinds.size(), 4U);
  for (const auto& [kind, count] : kinds) EXPECT_NEAR(count, 12, 3) << kind;
  EXPECT_NEAR(same, 24, 3);
}

TEST(CounterfactualMix, takes_what_is_asked_for) {
  const auto differences = [](const CounterfactualMixOptions& options) {
    std::set<std::string> found;
    for (const std::string& row : rows_of(options, 6))
      found.insert(Json::parse(row).at("differs").get<std::string>());
    return found;
  };
  EXPECT_THAT(differences({.facts = {FactKind::depth}, .same = 1.0, .tries = 40}), ElementsAre("same"));
  EXPECT_FALSE(differences({.facts = {FactKind::depth}, .same = 0.0, .tries = 150}).contains("same"));
}

}  // namespace
}  // namespace fuselage::oracle

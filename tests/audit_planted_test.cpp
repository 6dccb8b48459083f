// Flaws of many kinds, planted in a game that is sound without them: the audit knows none of them, and has to
// find each with an example whose gain is the one that was planted.
#include "audit_planted.h"

#include <gtest/gtest.h>

#include <set>

#include "fuselage/oracle/audit.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle::audit {
namespace {

constexpr Options options = {.seed = 1, .steps = 40'000, .entries = 20};

Workload chain() {
  return walk::make_task(walk::tasks()[0]);
}
Workload mixed(int ops, const char* seed) {
  return walk::generate_seeded({.num_ops = ops, .difficulty = walk::Difficulty::hard}, seed);
}

std::set<std::string> laws(const Report& report) {
  std::set<std::string> laws;
  for (const Finding& finding : report.findings) laws.insert(finding.law);
  return laws;
}

const Finding* find(const Report& report, const std::string& law, const std::string& code = {}) {
  for (const Finding& finding : report.findings)
    if (finding.law == law && (code.empty() || finding.code == code)) return &finding;
  return nullptr;
}

// Played anew, an example gives the same, and a move that asks for something is there for the gain: said
// plainly, it does not leave both the gain and all else as it is.
void expect_minimal(const Game& game, const Finding& finding) {
  const Play& example = finding.example;
  const Play again = play(game, example.moves, example.max_steps);
  EXPECT_EQ(again.end.latency, example.end.latency);
  EXPECT_EQ(again.end.score, example.end.score);
  EXPECT_EQ(again.return_sum, example.return_sum);
  for (std::size_t i = 0; i < example.moves.size(); ++i) {
    Line line = example.moves;
    if (line[i] == game.plain()) continue;
    line[i] = game.plain();
    const Play plainer = play(game, line, example.max_steps);
    EXPECT_TRUE(plainer.end.latency != example.end.latency || plainer.return_sum != example.return_sum) << i;
  }
}

TEST(AuditPlanted, a_sound_game_has_no_findings) {
  for (const Workload& workload : {chain(), mixed(10, "3"), mixed(12, "4")}) {
    const PlantedGame game(workload);
    const Report report = audit(game, options);
    EXPECT_TRUE(report.findings.empty())
        << workload.name << ": " << report.findings.front().law << ", " << report.findings.front().what;
    ASSERT_TRUE(report.fastest.end.complete);
    EXPECT_NEAR(report.fastest.end.latency, report.judges.front().best->latency, 1e-6);
  }
}

TEST(AuditPlanted, kernels_of_an_odd_length_launch_for_nothing) {
  const Workload workload = mixed(10, "3");
  const double launch = workload.hardware.kernel_launch_cost;
  const auto odd = [](const walk::Plan& plan) {
    return static_cast<double>(std::count_if(
        plan.begin(), plan.end(), [](const auto& kernel) { return kernel.nodes.size() % 2 == 1; }));
  };
  const PlantedGame game(workload,
                         {.latency_off = [&](const Seen& seen) { return launch * odd(seen.plan); }});
  const Report report = audit(game, options);
  EXPECT_EQ(laws(report), (std::set<std::string>{"price", "reachable"}));
  const Finding* price = find(report, "price");
  ASSERT_NE(price, nullptr);
  EXPECT_GT(odd(game.plan(price->example.moves)), 0);
  EXPECT_NEAR(price->gain, launch * odd(game.plan(price->example.moves)), 1e-6);
  expect_minimal(game, *price);
  // The best that can be made of it, by this graph's optimum: no schedule takes so little.
  const Finding* reachable = find(report, "reachable");
  ASSERT_NE(reachable, nullptr);
  EXPECT_EQ(reachable->judge, "the sound game");
  EXPECT_LT(reachable->example.end.latency, report.judges.front().best->latency);
  EXPECT_NEAR(reachable->gain, reachable->reference - reachable->example.end.latency, 1e-6);
}

TEST(AuditPlanted, the_order_of_entries_changes_the_price) {
  constexpr double off = 700;
  const auto descending = [](const Line& line) {
    return static_cast<double>(std::count_if(line.begin(), line.end(), [](const Move& move) {
      const auto& retain = move.fields[2];
      return retain.size() > 1 && std::is_sorted(retain.rbegin(), retain.rend()) &&
             std::set<std::int64_t>(retain.begin(), retain.end()).size() == retain.size();
    }));
  };
  const PlantedGame game(chain(),
                         {.latency_off = [&](const Seen& seen) { return off * descending(seen.worded); }});
  const Report report = audit(game, options);
  const Finding* wording = find(report, "wording", "order of entries");
  ASSERT_NE(wording, nullptr);
  EXPECT_GT(descending(wording->example.moves), 0);
  EXPECT_NEAR(wording->gain, off * descending(wording->example.moves), 1e-6);
  // Two entries are enough for it.
  for (const Move& move : wording->example.moves) EXPECT_LE(move.fields[2].size(), 2U);
  expect_minimal(game, *wording);
}

TEST(AuditPlanted, a_tile_that_is_none_is_cheaper) {
  constexpr double off = 1000;
  const auto count = [](const Line& line) {
    return static_cast<double>(std::count_if(line.begin(), line.end(),
                                             [](const Move& move) { return move.fields[1].front() == 33; }));
  };
  const PlantedGame game(chain(),
                         {.latency_off = [&](const Seen& seen) { return off * count(seen.worded); }});
  const Report report = audit(game, options);
  const Finding* wording = find(report, "wording", "unknown value");
  ASSERT_NE(wording, nullptr);
  EXPECT_GT(wording->gain, 0);
  EXPECT_GT(count(wording->example.moves), 0);
  const Finding* price = find(report, "price");
  ASSERT_NE(price, nullptr);
  EXPECT_NEAR(price->gain, off * count(price->example.moves), 1e-6);
  expect_minimal(game, *price);
}

TEST(AuditPlanted, a_refused_fuse_is_paid) {
  constexpr double paid = 0.2;
  const PlantedGame game(chain(), {.paid = [](const Seen& seen) {
                           return seen.episode.error().kind != walk::StepError::Kind::none ? paid : 0;
                         }});
  const Report report = audit(game, options);
  for (const std::string& law : laws(report)) EXPECT_TRUE(law == "order" || law == "worst") << law;
  const Finding* order = find(report, "order");
  ASSERT_NE(order, nullptr);
  const Play& example = order->example;
  EXPECT_GT(example.end.latency, report.fastest.end.latency);
  EXPECT_GT(game.refused(example.moves), 0);
  EXPECT_NEAR(example.return_sum, example.end.score + paid * game.refused(example.moves), 1e-9);
  EXPECT_NEAR(order->gain, example.return_sum - report.fastest.return_sum, 1e-12);
  expect_minimal(game, *order);
}

TEST(AuditPlanted, every_launch_is_paid) {
  constexpr double paid = 0.3;
  const PlantedGame game(
      chain(), {.paid = [](const Seen& seen) {
        const auto& order = seen.episode.context().graph().order();
        const NodeId last = order[static_cast<std::size_t>(seen.episode.position() - 1)];
        return seen.episode.context().graph().position(last) == seen.episode.group().first ? paid : 0;
      }});
  const Report report = audit(game, options);
  for (const std::string& law : laws(report)) EXPECT_TRUE(law == "order" || law == "worst") << law;
  const Finding* order = find(report, "order");
  ASSERT_NE(order, nullptr);
  const Play& example = order->example;
  const double launches = static_cast<double>(game.plan(example.moves).size());
  EXPECT_GT(launches, static_cast<double>(game.plan(report.fastest.moves).size()));
  EXPECT_NEAR(example.return_sum, example.end.score + paid * launches, 1e-9);
  EXPECT_NEAR(order->gain, example.return_sum - report.fastest.return_sum, 1e-12);
  expect_minimal(game, *order);
}

TEST(AuditPlanted, unfinished_episodes_are_scored_as_whole_ones) {
  const PlantedGame game(chain(), {.scores_unfinished = true});
  const Report report = audit(game, options);
  EXPECT_EQ(laws(report), (std::set<std::string>{"early end"}));
  const Finding* end = find(report, "early end");
  ASSERT_NE(end, nullptr);
  EXPECT_LT(end->example.max_steps, game.max_steps());
  EXPECT_FALSE(end->example.end.complete);
  EXPECT_NEAR(end->gain, end->example.end.score - report.fastest.end.score, 1e-12);
  EXPECT_GT(end->gain, 0.1);
  expect_minimal(game, *end);
}

TEST(AuditPlanted, answers_that_cannot_be_read_are_paid) {
  const PlantedGame game(chain(), {.unread_pays = true});
  const Report report = audit(game, options);
  EXPECT_EQ(laws(report), (std::set<std::string>{"idle"}));
  const Finding* idle = find(report, "idle");
  ASSERT_NE(idle, nullptr);
  EXPECT_NEAR(idle->gain, 0.03, 1e-12);
  const Line& moves = idle->example.moves;
  const Move plain = game.plain();
  EXPECT_EQ(std::count_if(moves.begin(), moves.end(), [](const Move& move) { return move.unreadable; }), 1);
  EXPECT_EQ(std::count(moves.begin(), moves.end(), plain), static_cast<std::ptrdiff_t>(moves.size()) - 1);
}

}  // namespace
}  // namespace fuselage::oracle::audit

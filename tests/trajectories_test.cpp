// Data for a learned model: every number of a trajectory against what it should mean, by other code.
#include "fuselage/oracle/trajectories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "error_of.h"
#include "fuselage/oracle/samplers.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/features.h"

namespace fuselage::oracle {
namespace {

using learn::Sampler;
using learn::Trajectory;
using learn::TrajectoryGroup;

Workload drawn(int i) {
  const auto kind = static_cast<GraphKind>(i % 2);
  return draw_workload({.kind = kind, .min_ops = 6, .max_ops = 18}, static_cast<std::uint64_t>(100 + i));
}

TrajectoryGroup group_of(int i, const TrajectoryOptions& options) {
  return trajectories(drawn(i), options).value();
}

// The plan whose tokens these are: fuse bits, tiles and retained outputs; what else a kernel retains is in
// the sizes only.
float value(const Trajectory& one, std::size_t token, std::string_view feature) {
  const Schema& schema = walk::token_schema();
  return one.tokens[token * schema.size() + schema.index(feature)];
}
float state_value(const Trajectory& one, std::size_t row, std::string_view feature) {
  const Schema& schema = walk::state_schema();
  return one.states[row * schema.size() + schema.index(feature)];
}

TEST(Samplers, actions_are_legal_and_never_fall_back) {
  std::map<std::string, std::set<std::string>> plans;
  for (int i = 0; i < 12; ++i) {
    const Workload w = drawn(i);
    const walk::EpisodeContext context(w);
    search::SplitMix random(static_cast<std::uint64_t>(i));
    Samplers samplers(context, random);
    const Solution best = solve(w, {.engine = Engine::beam});
    for (int turn = 0; turn < 20; ++turn) {
      const std::vector<std::vector<walk::Action>> lists = {
          samplers.random_legal(), samplers.heuristic(0.1 * (turn % 6)), samplers.mutated(best.plan)};
      for (const auto& actions : lists) {
        ASSERT_EQ(actions.size(), static_cast<std::size_t>(w.graph.size()));
        walk::Episode episode(context, {.rules = walk::Rules::seed_honest});
        for (const walk::Action& action : actions) {
          episode.step(action);
          EXPECT_EQ(episode.error().kind, walk::StepError::Kind::none) << w.name;
          EXPECT_TRUE(episode.dropped().empty()) << w.name;
        }
        EXPECT_TRUE(episode.done());
        const walk::Plan plan = play(context, walk::Rules::seed_honest, actions);
        const Simulation checked = simulate(w.graph, w.hardware, plan, {});
        ASSERT_TRUE(checked.legal()) << checked.fault->message;
        EXPECT_EQ(checked.latency, episode.total_latency());
        for (const KernelReport& kernel : checked.kernels) EXPECT_FALSE(kernel.fallback) << w.name;
      }
    }
  }
}

// From good to bad, and enough near the best for a model to learn what matters there.
TEST(Samplers, good_ones_are_better_than_random_ones) {
  std::map<Sampler, double> mean;
  int near = 0, mutated = 0;
  for (int i = 0; i < 20; ++i) {
    const TrajectoryGroup group = group_of(i, {.schedules = 33, .seed = 7});
    std::map<Sampler, std::vector<double>> ratios;
    for (const Trajectory& one : group.schedules) ratios[one.sampler].push_back(one.latency / group.best);
    ASSERT_EQ(ratios.size(), 4U) << i;
    for (const auto& [sampler, of] : ratios)
      mean[sampler] += std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
    for (double ratio : ratios[Sampler::mutated]) {
      near += ratio < 1.1;
      ++mutated;
    }
  }
  EXPECT_NEAR(mean[Sampler::optimal], 20, 1e-6);
  EXPECT_LT(mean[Sampler::mutated], mean[Sampler::heuristic]);
  EXPECT_LT(mean[Sampler::heuristic], mean[Sampler::random]);
  EXPECT_GT(near, mutated / 3);
}

TEST(Trajectories, costs_and_tokens_are_aligned) {
  for (int i = 0; i < 12; ++i) {
    const Workload w = drawn(i);
    const TrajectoryGroup group = trajectories(w, {.schedules = 12, .seed = 3}).value();
    EXPECT_TRUE(group.proven);
    EXPECT_EQ(group.schedules[0].sampler, Sampler::optimal);
    EXPECT_EQ(group.schedules[0].latency, group.best);
    const auto n = static_cast<std::size_t>(w.graph.size());
    for (const Trajectory& one : group.schedules) {
      ASSERT_EQ(one.size(), n);
      EXPECT_GE(one.latency, group.best * (1 - 1e-9));
      EXPECT_EQ(one.prefix_cost.back(), one.latency);
      for (std::size_t t = 0; t < n; ++t) {
        // A token that isn't fused begins a kernel; states count what is done and what is open.
        EXPECT_EQ(value(one, t, "fused") == 0, t == 0 || one.kernel[t] != one.kernel[t - 1]);
        EXPECT_FLOAT_EQ(state_value(one, t, "done"), static_cast<float>(t) / static_cast<float>(n));
        EXPECT_EQ(state_value(one, t, "open") == 0, value(one, t, "fused") == 0);
        EXPECT_FLOAT_EQ(state_value(one, t, "resident_size"), value(one, t, "held_size"));
      }
      EXPECT_EQ(state_value(one, n, "done"), 1);
    }
  }
}

// Where a kernel ends, the prefix cost is what an episode has paid by then; within one, what it would have
// paid with the kernel's tile and retain set had it ended there.
TEST(Trajectories, prefix_costs_are_an_episodes) {
  int prefixes = 0;
  for (int i = 0; i < 10; ++i) {
    const Workload w = drawn(i);
    const walk::EpisodeContext context(w);
    const Solution best = solve(w, {});
    const Trajectory one = trajectories(w, {.schedules = 2}).value().schedules[0];
    std::size_t token = 0;
    double before = 0;
    for (std::size_t k = 0; k < best.plan.size(); ++k) {
      for (std::size_t count = 1; count <= best.plan[k].nodes.size(); ++count, ++token) {
        walk::Plan part(best.plan.begin(), best.plan.begin() + static_cast<std::ptrdiff_t>(k) + 1);
        part[k].nodes.resize(count);
        const std::vector<walk::Action> actions = walk::actions_of(part);
        walk::Episode episode(
            context, {.rules = walk::Rules::seed_honest, .max_steps = static_cast<int>(actions.size())});
        bool played = true;
        for (const walk::Action& action : actions) {
          episode.step(action);
          played = played && episode.error().kind == walk::StepError::Kind::none && episode.dropped().empty();
        }
        if (!played || episode.kernel_launches() != static_cast<int>(k) + 1) continue;  // it doesn't fit
        ++prefixes;
        EXPECT_NEAR(one.prefix_cost[token], episode.total_latency(), 1e-9 * episode.total_latency());
        EXPECT_GT(one.prefix_cost[token], before);
      }
      before = one.prefix_cost[token - 1];
    }
  }
  EXPECT_GT(prefixes, 60);
}

TEST(Trajectories, regrets_add_up_to_what_the_schedule_is_above_the_optimum) {
  int proven = 0;
  for (int i = 0; i < 6; ++i) {
    const TrajectoryGroup group = group_of(i, {.schedules = 8, .seed = 1, .regret = true});
    for (const Trajectory& one : group.schedules) {
      ASSERT_EQ(one.regret.size(), one.size());
      double sum = 0;
      bool all = true;
      for (double regret : one.regret) {
        all = all && regret != learn::unproven_regret;
        sum += regret;
      }
      if (!all) continue;
      ++proven;
      EXPECT_NEAR(group.best + sum, one.latency, 1e-6 * one.latency);
      EXPECT_TRUE(sum == 0 || one.sampler != Sampler::optimal);
    }
  }
  EXPECT_GT(proven, 24);
}

TEST(Trajectories, plans_come_with_their_rows) {
  for (int i = 0; i < 4; ++i) {
    const Workload w = drawn(i);
    const DrawnSchedules all = draw_schedules(w, {.schedules = 12, .seed = 3}).value();
    const TrajectoryGroup group = trajectories(w, {.schedules = 12, .seed = 3}).value();
    ASSERT_EQ(all.plans.size(), group.schedules.size());
    const walk::EpisodeContext context(w);
    for (std::size_t k = 0; k < all.plans.size(); ++k) {
      const Trajectory one = trajectory_of(context, all.plans[k]).value();
      EXPECT_EQ(one.tokens, group.schedules[k].tokens);
      EXPECT_EQ(one.states, group.schedules[k].states);
      EXPECT_EQ(one.prefix_cost, group.schedules[k].prefix_cost);
      EXPECT_EQ(one.latency, group.schedules[k].latency);
    }
  }
}

TEST(Trajectories, a_plan_that_is_not_legal_is_refused) {
  const Workload w = drawn(0);
  walk::Plan plan = draw_schedules(w, {.schedules = 2}).value().plans[0];
  plan.pop_back();
  EXPECT_THAT(error_of([&] { trajectory_of(walk::EpisodeContext(w), plan); }),
              testing::StartsWith("the plan is illegal: "));
}

TEST(Trajectories, no_schedule_comes_twice) {
  for (int i = 0; i < 6; ++i) {
    const TrajectoryGroup group = group_of(i, {.schedules = 40, .seed = 2});
    EXPECT_GT(group.schedules.size(), 20U);
    for (std::size_t a = 0; a < group.schedules.size(); ++a)
      for (std::size_t b = a + 1; b < group.schedules.size(); ++b)
        EXPECT_FALSE(group.schedules[a].tokens == group.schedules[b].tokens &&
                     group.schedules[a].states == group.schedules[b].states &&
                     group.schedules[a].latency != group.schedules[b].latency)
            << "the same rows cost " << group.schedules[a].latency << " and " << group.schedules[b].latency;
  }
}

TEST(Trajectories, the_same_seed_gives_the_same_group) {
  const TrajectoryGroup a = group_of(4, {.schedules = 10, .seed = 5});
  const TrajectoryGroup b = group_of(4, {.schedules = 10, .seed = 5});
  const TrajectoryGroup c = group_of(4, {.schedules = 10, .seed = 6});
  ASSERT_EQ(a.schedules.size(), b.schedules.size());
  bool differs = a.schedules.size() != c.schedules.size();
  for (std::size_t i = 0; i < a.schedules.size(); ++i) {
    EXPECT_EQ(a.schedules[i].tokens, b.schedules[i].tokens);
    EXPECT_EQ(a.schedules[i].prefix_cost, b.schedules[i].prefix_cost);
    differs = differs || a.schedules[i].tokens != c.schedules[i].tokens;
  }
  EXPECT_TRUE(differs);
}

// A graph by itself, not by its numbering or its machine.
TEST(GraphHash, tells_graphs_apart) {
  const auto chain = [](double flops) {
    std::vector<Node> nodes = {derived_node(Op::matmul, 64, 64, {}), derived_node(Op::relu, 64, 64, {0}),
                               derived_node(Op::gelu, 64, 64, {1})};
    nodes[0].flops = flops;
    return Graph(std::move(nodes));
  };
  const Graph renamed({derived_node(Op::gelu, 64, 64, {1}), derived_node(Op::relu, 64, 64, {2}),
                       derived_node(Op::matmul, 64, 64, {})});
  const double flops = renamed.node(2).flops;
  EXPECT_EQ(graph_hash(chain(flops)), graph_hash(renamed));
  EXPECT_NE(graph_hash(chain(flops + 1)), graph_hash(renamed));
  EXPECT_EQ(graph_hash(renamed).size(), 64U);
}

TEST(DrawWorkload, follows_its_options) {
  for (int i = 0; i < 40; ++i) {
    const Workload w = drawn(i);
    EXPECT_GE(w.graph.size(), 5);
    EXPECT_LE(w.graph.size(), 18);
    EXPECT_EQ(w.name.starts_with("memory_bound_"), i % 2 == 1) << w.name;
    EXPECT_TRUE(w.name.ends_with(fmt::format("_t{}", 100 + i))) << w.name;
  }
  EXPECT_EQ(error_of([] { draw_workload({.min_ops = 9, .max_ops = 8}, 0); }),
            "ops: 9-8 is out of range; expected 1 <= low <= high <= 1000000");
  EXPECT_EQ(error_of([] { trajectories(drawn(0), {.schedules = 1}); }),
            "schedules: 1 is too few; expected 2 or more: one alone can't be compared");
}

}  // namespace
}  // namespace fuselage::oracle

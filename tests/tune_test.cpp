// The tuner's loop, its proposals and filters, with the roofline as evaluator.
#include "fuselage/oracle/tune.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "error_of.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/trajectories.h"
#include "fuselage/oracle/tune_proposals.h"

namespace fuselage::oracle {
namespace {

Workload workload_of(std::uint64_t seed, GraphKind kind = GraphKind::mixed) {
  return draw_workload({.kind = kind, .min_ops = 12, .max_ops = 20}, seed);
}

double roofline(const Workload& workload, const walk::Plan& plan) {
  const Simulation priced =
      simulate(workload.graph, workload.hardware, plan, {.rules = walk::Rules::seed_honest});
  EXPECT_TRUE(priced.legal()) << (priced.fault ? priced.fault->message : "");
  return priced.latency;
}

// Knows what every plan costs.
class Omniscient : public Filter {
 public:
  explicit Omniscient(const Workload& workload) : workload_(workload) {}
  void rate(std::span<Candidate> candidates) override {
    for (Candidate& one : candidates) one.score = -roofline(workload_, one.plan);
  }

 private:
  const Workload& workload_;
};

// Answers in reverse order, and some plans can't be run.
class Moody : public Evaluator {
 public:
  explicit Moody(const Workload& workload) : workload_(workload) {}
  bool evaluate(std::span<const Request> requests, const Answered& answered) override {
    for (std::size_t i = requests.size(); i-- > 0;) {
      ++calls[key_of(*requests[i].plan)];
      Measurement measured;
      if (requests[i].trial % 3 == 2)
        measured.failure = "no";
      else
        measured.latency = roofline(workload_, *requests[i].plan);
      answered(i, measured);
    }
    return true;
  }
  std::map<std::string, int> calls;

 private:
  const Workload& workload_;
};

learn::ScheduleModel untrained_model(std::uint64_t seed = 1) {
  learn::ScheduleModelShape shape;
  shape.scorer.features = static_cast<learn::Index>(walk::token_schema().size());
  shape.facts = static_cast<learn::Index>(walk::workload_schema().size());
  return {shape, seed};
}

TEST(Tune, no_plan_is_measured_twice_and_all_are_legal) {
  const Workload workload = workload_of(3);
  const walk::EpisodeContext context(workload);
  Moody evaluator(workload);
  const Tuned tuned = tune(context, evaluator, nullptr, {.trials = 100, .batch = 7, .seed = 5});
  ASSERT_EQ(tuned.trials.size(), 100U);
  for (const auto& [key, calls] : evaluator.calls) EXPECT_EQ(calls, 1) << key;
  EXPECT_EQ(evaluator.calls.size(), 100U);
  EXPECT_EQ(tuned.failures(), 33);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tuned.trials.size(); ++i) {
    EXPECT_EQ(tuned.trials[i].number, static_cast<std::int64_t>(i + 1));
    if (tuned.trials[i].number % 3 == 2) {
      EXPECT_EQ(tuned.trials[i].measured.failure, "no");
      continue;
    }
    EXPECT_EQ(tuned.trials[i].latency(), roofline(workload, tuned.trials[i].plan));
    least = std::min(least, tuned.trials[i].latency());
  }
  ASSERT_TRUE(tuned.best);
  EXPECT_EQ(tuned.trials[*tuned.best].latency(), least);
  EXPECT_EQ(tuned.best_of(100), least);
  EXPECT_EQ(tuned.best_of(0), std::numeric_limits<double>::infinity());
}

TEST(Tune, the_same_answers_give_the_same_trials_whatever_their_order) {
  const Workload workload = workload_of(4);
  const walk::EpisodeContext context(workload);
  const learn::ScheduleModel model = untrained_model();
  class Straight : public Moody {
   public:
    using Moody::Moody;
    bool evaluate(std::span<const Request> requests, const Answered& answered) override {
      for (std::size_t i = 0; i < requests.size(); ++i)
        Moody::evaluate(requests.subspan(i, 1), [&](std::size_t, const Measurement& m) { answered(i, m); });
      return true;
    }
  };
  const TuneOptions options = {.trials = 48, .proposals = 6, .seed = 2};
  Moody reversed(workload);
  Straight straight(workload);
  RefitFilter one(context, model, 1), other(context, model, 1);
  const Tuned a = tune(context, reversed, &one, options);
  const Tuned b = tune(context, straight, &other, options);
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) EXPECT_EQ(a.trials[i].plan, b.trials[i].plan) << i;
}

TEST(Tune, a_filter_saves_measurements) {
  double with = 0, without = 0;
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    const Workload workload = workload_of(seed);
    const walk::EpisodeContext context(workload);
    RooflineEvaluator evaluator(workload);
    Omniscient filter(workload);
    const double optimum = solve(workload, {}).latency;
    with += tune(context, evaluator, &filter, {.trials = 16}).best_of(16) / optimum - 1;
    without += tune(context, evaluator, nullptr, {.trials = 16}).best_of(16) / optimum - 1;
  }
  EXPECT_LT(with, without / 2);
  EXPECT_GE(with, -1e-9);
}

TEST(Tune, it_goes_on_where_it_stopped) {
  const Workload workload = workload_of(6);
  const walk::EpisodeContext context(workload);
  Moody evaluator(workload);
  Omniscient filter(workload);
  const Tuned whole = tune(context, evaluator, &filter, {.trials = 40, .seed = 9});
  // 21 are known: that ends within a batch.
  Moody second(workload);
  std::set<std::int64_t> answered;
  TuneOptions options = {.trials = 40, .seed = 9};
  options.recall = [&](std::int64_t number, const walk::Plan& plan) -> std::optional<Measurement> {
    if (number > 21) return std::nullopt;
    EXPECT_EQ(plan, whole.trials[static_cast<std::size_t>(number - 1)].plan);
    return whole.trials[static_cast<std::size_t>(number - 1)].measured;
  };
  options.answered = [&](const Trial& trial) { answered.insert(trial.number); };
  const Tuned resumed = tune(context, second, &filter, options);
  ASSERT_EQ(resumed.trials.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(resumed.trials[i].plan, whole.trials[i].plan) << i;
  EXPECT_EQ(answered.size(), 19U);
  EXPECT_EQ(*answered.begin(), 22);
  EXPECT_EQ(second.calls.size(), 19U);
}

TEST(Tune, more_trials_begin_with_fewer) {
  const Workload workload = workload_of(7);
  const walk::EpisodeContext context(workload);
  RooflineEvaluator evaluator(workload);
  Omniscient filter(workload);
  const Tuned few = tune(context, evaluator, &filter, {.trials = 13});
  const Tuned many = tune(context, evaluator, &filter, {.trials = 30});
  ASSERT_EQ(few.trials.size(), 13U);
  for (std::size_t i = 0; i < 13; ++i) EXPECT_EQ(few.trials[i].plan, many.trials[i].plan) << i;
}

TEST(Tune, a_space_that_is_exhausted_ends_the_search) {
  const Workload workload = draw_workload({.min_ops = 2, .max_ops = 2}, 1);
  const walk::EpisodeContext context(workload);
  RooflineEvaluator evaluator(workload);
  const Tuned tuned = tune(context, evaluator, nullptr, {.trials = 100'000, .batch = 64});
  EXPECT_EQ(tuned.stop, TuneStop::exhausted);
  EXPECT_LT(tuned.trials.size(), 1000U);
  EXPECT_NEAR(tuned.best_of(1000), solve(workload, {}).latency, 1e-6);
}

TEST(Tune, it_stops_when_told_to) {
  const Workload workload = workload_of(8);
  const walk::EpisodeContext context(workload);
  RooflineEvaluator evaluator(workload);
  std::atomic<bool> cancel = false;
  TuneOptions options = {.trials = 64, .cancel = &cancel};
  options.progress = [&](const std::vector<Trial>& trials) { cancel = trials.size() >= 16; };
  const Tuned tuned = tune(context, evaluator, nullptr, options);
  EXPECT_EQ(tuned.stop, TuneStop::cancelled);
  EXPECT_EQ(tuned.trials.size(), 16U);
}

TEST(Tune, options_out_of_range_are_refused) {
  const Workload workload = workload_of(8);
  const walk::EpisodeContext context(workload);
  RooflineEvaluator evaluator(workload);
  EXPECT_EQ(error_of([&] { tune(context, evaluator, nullptr, {.trials = 0}); }),
            "trials: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(error_of([&] { tune(context, evaluator, nullptr, {.batch = -1}); }),
            "batch: -1 is out of range; expected an integer >= 1");
}

TEST(TuneProposals, a_cross_has_every_node_once_and_its_parents_kernels) {
  const Workload workload = workload_of(11);
  const walk::EpisodeContext context(workload);
  search::SplitMix random(1);
  Samplers samplers(context, random);
  for (int i = 0; i < 50; ++i) {
    const walk::Plan a = play(context, walk::Rules::seed_honest, samplers.random_legal());
    const walk::Plan b = play(context, walk::Rules::seed_honest, samplers.heuristic(0.3));
    const int n = workload.graph.size();
    const int position = static_cast<int>(random.below(static_cast<std::size_t>(n + 1)));
    int at = 0;
    for (const walk::PlanKernel& kernel : crossed(a, b, position)) {
      const walk::Plan& parent = at < position ? a : b;
      const auto of_parent = std::find_if(parent.begin(), parent.end(), [&](const walk::PlanKernel& k) {
        return std::find(k.nodes.begin(), k.nodes.end(), kernel.nodes[0]) != k.nodes.end();
      });
      ASSERT_NE(of_parent, parent.end());
      EXPECT_EQ(kernel.tile, of_parent->tile);
      EXPECT_EQ(kernel.retain, of_parent->retain);
      for (NodeId node : kernel.nodes) EXPECT_EQ(workload.graph.position(node), at++);
    }
    EXPECT_EQ(at, n);
  }
}

TEST(TuneProposals, none_twice_and_all_legal) {
  const Workload workload = workload_of(12, GraphKind::memory_bound);
  const walk::EpisodeContext context(workload);
  Proposals proposals(context, 3);
  std::set<std::string> keys;
  std::vector<walk::Plan> plans;
  std::vector<const walk::Plan*> parents;
  for (int round = 0; round < 10; ++round) {
    for (const Candidate& one : proposals.next(40, parents)) {
      EXPECT_TRUE(keys.insert(one.key).second);
      EXPECT_GT(roofline(workload, one.plan), 0);
      if (round == 0) plans.push_back(one.plan);
    }
    for (const walk::Plan& plan : plans)
      if (parents.size() < plans.size()) parents.push_back(&plan);
  }
  EXPECT_EQ(keys.size(), 400U);
}

// The rows by the residents that simulate reports, which shares no code with the episode.
TEST(TuneFilter, tokens_are_those_that_models_are_trained_on) {
  for (const GraphKind kind : {GraphKind::mixed, GraphKind::memory_bound}) {
    const Workload workload = workload_of(13, kind);
    const walk::EpisodeContext context(workload);
    const PlanTokens tokens(context);
    const walk::Features features(context.graph(), context.hardware(), context.runs());
    Proposals proposals(context, 4);
    for (const Candidate& one : proposals.next(30, {})) {
      std::vector<float> rows;
      tokens.append(one.plan, rows);
      const Simulation priced =
          simulate(workload.graph, workload.hardware, one.plan, {.rules = walk::Rules::seed_honest});
      std::vector<float> expected(rows.size());
      std::size_t at = 0;
      for (std::size_t k = 0; k < one.plan.size(); ++k) {
        const std::size_t size = one.plan[k].nodes.size() * tokens.width();
        features.tokens({.first = workload.graph.position(one.plan[k].nodes[0]),
                         .count = static_cast<int>(one.plan[k].nodes.size()),
                         .tile = walk::tile_index(one.plan[k].tile),
                         .retain = one.plan[k].retain},
                        k == 0 ? std::vector<NodeId>{} : priced.kernels[k - 1].resident_after,
                        std::span(expected).subspan(at, size));
        at += size;
      }
      EXPECT_EQ(rows, expected);
    }
  }
}

// A model that knows nothing is outvoted by what was measured.
TEST(TuneFilter, a_refitted_ranker_learns_what_the_model_does_not_know) {
  const Workload workload = workload_of(14);
  const walk::EpisodeContext context(workload);
  const learn::ScheduleModel model = untrained_model(2);
  RefitFilter filter(context, model, 1);
  Proposals proposals(context, 5);
  std::vector<Candidate> candidates = proposals.next(300, {});
  filter.rate(candidates);
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < 200; ++i) {
    seen.push_back({candidates[i], roofline(workload, candidates[i].plan)});
    if (i % 20 == 19) filter.learn(seen, 20);
  }
  const std::span<const Candidate> unseen = std::span<const Candidate>(candidates).subspan(200);
  const auto accuracy = [&](const std::vector<double>& scores) {
    double right = 0, all = 0;
    for (std::size_t a = 0; a < unseen.size(); ++a)
      for (std::size_t b = 0; b < unseen.size(); ++b) {
        if (!(roofline(workload, unseen[a].plan) < roofline(workload, unseen[b].plan))) continue;
        all += 1;
        right += scores[a] > scores[b] ? 1 : 0;
      }
    return right / all;
  };
  EXPECT_LT(accuracy(filter.Filter::order(unseen)), 0.75);
  EXPECT_GT(accuracy(filter.order(unseen)), 0.85);
}

TEST(TuneFilter, bad_plans_are_learned_from_too) {
  const Workload workload = workload_of(15);
  const walk::EpisodeContext context(workload);
  const learn::ScheduleModel model = untrained_model();
  RefitFilter filter(context, model, 1);
  Proposals proposals(context, 6);
  std::vector<Candidate> candidates = proposals.next(64, {});
  filter.rate(candidates);
  std::vector<Seen> seen;
  for (const Candidate& one : candidates) seen.push_back({one, std::numeric_limits<double>::infinity()});
  filter.learn(seen, seen.size());  // all equal: nothing to learn
  seen[5].latency = 100;
  filter.learn(seen, seen.size());
  for (double score : filter.order(candidates)) EXPECT_TRUE(std::isfinite(score));
}

}  // namespace
}  // namespace fuselage::oracle

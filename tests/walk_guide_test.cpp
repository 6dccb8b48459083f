// Searches of the walk family that learned models guide: what is kept, what is carried along, and that
// nothing which is claimed rests on a model.
#include "fuselage/oracle/walk_guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "error_of.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/search/beam.h"
#include "fuselage/search/exact.h"
#include "fuselage/search/mcts.h"
#include "fuselage/search/portfolio.h"
#include "random_graphs.h"
#include "walk_models.h"

namespace fuselage::oracle {
namespace {

using testing::HasSubstr;
using walk::Kernel;
using walk::State;
using walk::WalkProblem;
using Expansion = WalkGuide::Expansion;

// A workload with what is made of it.
struct Set {
  explicit Set(Workload w)
      : workload(std::move(w)),
        runs(workload.graph, workload.hardware),
        problem(workload.graph, workload.hardware, runs, {}),
        features(workload.graph, workload.hardware, runs) {}
  Workload workload;
  walk::RunTable runs;
  WalkProblem problem;
  walk::Features features;
};

Workload drawn(std::uint64_t seed, int ops = 10, GraphKind kind = GraphKind::mixed) {
  return draw_workload({.kind = kind, .min_ops = ops, .max_ops = ops}, seed);
}

// Every node reads three or four of the six before it, on a machine that holds six tensors: no quick proof.
Workload dense(int ops) {
  constexpr Op kinds[] = {Op::matmul, Op::add, Op::relu, Op::layernorm, Op::gelu};
  std::vector<Node> nodes;
  for (int id = 0; id < ops; ++id) {
    std::vector<NodeId> inputs;
    for (int back : {1, 2, 4 + id % 2, 6 - id % 3 / 2})
      if (back <= id) inputs.push_back(id - back);
    nodes.push_back(derived_node(kinds[id * 7 % 5], 128, 128, inputs));
  }
  return {"dense", Graph(std::move(nodes)), {393216, 4, 2000, 4}};
}

// A layer of states, some steps into the problem, with their kernels.
struct Layer {
  Layer(const WalkProblem& problem, const WalkGuide& guide, std::uint64_t seed) {
    Dice dice(seed);
    latent = guide.root(problem, problem.initial());
    for (int i = 0; i < 5; ++i) {
      State state = problem.initial();
      std::vector<Kernel> some;
      for (int steps = i; steps > 0; --steps) {
        problem.kernels(state, some);
        const State next =
            problem.apply(state, some[static_cast<std::size_t>(dice.below(static_cast<int>(some.size())))]);
        if (problem.progress(next) == problem.horizon()) break;
        state = next;
      }
      states.push_back(state);
      problem.kernels(state, kernels.emplace_back());
    }
  }
  std::vector<Expansion> expansions() const {
    std::vector<Expansion> batch;
    for (std::size_t i = 0; i < states.size(); ++i)
      batch.push_back({.state = &states[i], .latent = &latent, .kernels = kernels[i]});
    return batch;
  }
  LatentVector latent = {};
  std::vector<State> states;
  std::vector<std::vector<Kernel>> kernels;
};

std::vector<float> scores_of(const Set& set, const State& state, std::span<const Kernel> kernels) {
  walk::DecisionRows maker(set.features);
  std::vector<float> rows(walk::DecisionRows::width() * kernels.size());
  maker.fill(set.problem, state, kernels, rows);
  std::vector<float> scores(kernels.size());
  learn::FlatTreesScratch scratch;
  const Eigen::Map<const learn::Matrix<float>> columns(rows.data(),
                                                       static_cast<learn::Index>(walk::DecisionRows::width()),
                                                       static_cast<learn::Index>(kernels.size()));
  tiny_models().decisions->score(columns, scores, scratch);
  return scores;
}

// The whole of what a ranker does: the best few, in order, none far below the best, ties to the earlier one.
TEST(WalkGuide, keeps_the_best_few_in_order) {
  bool tied = false, cut_by_margin = false;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Set set(drawn(seed));
    for (const Keeping keeping : {Keeping{1, 2}, Keeping{4, 2}, Keeping{4, 0}, Keeping{0, 2},
                                  Keeping{1000, 0.3F}, Keeping{1'000'000, 1e6F}}) {
      WalkGuide guide(tiny_models(), set.features, {.keeping = keeping});
      const Layer layer(set.problem, guide, seed);
      std::vector<Expansion> batch = layer.expansions();
      guide.consider(set.problem, batch);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::vector<float> scores = scores_of(set, layer.states[i], layer.kernels[i]);
        std::vector<std::uint32_t> order(scores.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
        const std::size_t most = std::min(std::max<std::size_t>(1, keeping.most), order.size());
        std::size_t kept = 1;
        while (kept < most && scores[order[kept]] >= scores[order[0]] - keeping.margin) ++kept;
        cut_by_margin |= kept < most;
        for (std::size_t at = 1; at < kept; ++at) tied |= scores[order[at]] == scores[order[at - 1]];
        order.resize(kept);
        EXPECT_EQ(batch[i].keep, order);
        ASSERT_EQ(batch[i].prior.size(), kept);
        EXPECT_NEAR(std::accumulate(batch[i].prior.begin(), batch[i].prior.end(), 0.0), 1, 1e-12);
        for (std::size_t at = 0; at < kept; ++at)
          EXPECT_NEAR(std::log(batch[i].prior[at] / batch[i].prior[0]),
                      static_cast<double>(scores[order[at]] - scores[order[0]]), 1e-6);
      }
    }
  }
  EXPECT_TRUE(tied);
  EXPECT_TRUE(cut_by_margin);
}

TEST(WalkGuide, begins_with_the_latent_of_the_workload) {
  const Set set(drawn(3));
  std::vector<float> workload(walk::workload_schema().size());
  set.features.workload(workload);
  const learn::Matrix<float> start = tiny_models().schedules->start(workload);
  const WalkGuide guide(tiny_models(), set.features, {.value = true});
  const LatentVector latent = guide.root(set.problem, set.problem.initial());
  for (learn::Index i = 0; i < most_latent; ++i)
    EXPECT_EQ(latent[static_cast<std::size_t>(i)], i < start.rows() ? start(i, 0) : 0.0F) << i;
  EXPECT_GT(std::abs(latent[0]) + std::abs(latent[1]), 0);
  // Without the model's word nothing is carried.
  const WalkGuide ranker(tiny_models(), set.features, {});
  EXPECT_EQ(ranker.root(set.problem, set.problem.initial()), LatentVector{});
}

TEST(WalkGuide, latents_carried_from_kernel_to_kernel_are_those_of_the_whole_schedule) {
  Dice dice(4);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Set set(drawn(seed, 14));
    WalkGuide guide(tiny_models(), set.features, {.keeping = {3, 1e6F}, .value = true});
    State state = set.problem.initial();
    LatentVector latent = guide.root(set.problem, state);
    std::vector<float> tokens;
    int count = 0;
    while (set.problem.progress(state) < set.problem.horizon()) {
      std::vector<Kernel> kernels;
      set.problem.kernels(state, kernels);
      // In a batch with others.
      const Layer others(set.problem, guide, seed);
      std::vector<Expansion> batch = others.expansions();
      batch.insert(batch.begin() + 2, Expansion{.state = &state, .latent = &latent, .kernels = kernels});
      guide.consider(set.problem, batch);
      const Expansion& own = batch[2];
      ASSERT_EQ(own.latents.size(), own.keep.size());
      ASSERT_EQ(own.after.size(), own.keep.size());
      const auto chosen = static_cast<std::size_t>(dice.below(static_cast<int>(own.keep.size())));
      const Kernel& kernel = kernels[own.keep[chosen]];
      walk::append_tokens(set.features, state, kernel, tokens);
      count += kernel.count;
      latent = own.latents[chosen];
      state = set.problem.apply(state, kernel);
      EXPECT_GE(own.after[chosen], set.problem.bound(state));
      if (set.problem.progress(state) == set.problem.horizon()) {
        EXPECT_EQ(own.after[chosen], 0);
      }
    }
    std::vector<float> workload(walk::workload_schema().size());
    set.features.workload(workload);
    const learn::ScheduleModel& model = *tiny_models().schedules;
    const learn::Matrix<float> start = model.start(workload);
    learn::RollScratch rolled;
    const std::vector<int> lengths = {count};
    model.roll({.start = start, .tokens = tokens, .lengths = lengths}, rolled);
    for (learn::Index i = 0; i < model.latent(); ++i)
      EXPECT_EQ(rolled.last.view()(i, 0), latent[static_cast<std::size_t>(i)]) << seed << ' ' << i;
  }
}

// What a look ahead of one kernel says, put together by hand from what none says.
TEST(WalkGuide, looks_ahead_by_what_the_model_says) {
  const WalkGuideOptions now = {.keeping = {3, 1e6F}, .value = true};
  WalkGuideOptions ahead = now;
  ahead.lookahead = 1;
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Set set(drawn(seed, 8));
    WalkGuide guide(tiny_models(), set.features, now), looking(tiny_models(), set.features, ahead);
    const Layer layer(set.problem, guide, seed);
    std::vector<Expansion> batch = layer.expansions(), same = layer.expansions();
    guide.consider(set.problem, batch);
    looking.consider(set.problem, same);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(same[i].keep, batch[i].keep);
      EXPECT_EQ(same[i].latents, batch[i].latents);
      for (std::size_t at = 0; at < batch[i].keep.size(); ++at) {
        const State state = set.problem.apply(layer.states[i], layer.kernels[i][batch[i].keep[at]]);
        double expected = batch[i].after[at];
        if (set.problem.progress(state) < set.problem.horizon()) {
          std::vector<Kernel> kernels;
          set.problem.kernels(state, kernels);
          Expansion next{.state = &state, .latent = &batch[i].latents[at], .kernels = kernels};
          guide.consider(set.problem, std::span(&next, 1));
          const auto d = tiny_models().schedules->latent();
          const Eigen::Map<const learn::Matrix<float>> start(batch[i].latents[at].data(), d, 1);
          expected = search::infinite_cost;
          for (std::size_t k = 0; k < next.keep.size(); ++k) {
            std::vector<float> tokens;
            walk::append_tokens(set.features, state, kernels[next.keep[k]], tokens);
            const std::vector<int> lengths = {kernels[next.keep[k]].count};
            learn::RollScratch rolled;
            tiny_models().schedules->roll({.start = start, .tokens = tokens, .lengths = lengths}, rolled);
            expected = std::min(expected, next.after[k] - static_cast<double>(rolled.scores.view()(0, 0)) *
                                                              set.features.mean_cycles());
          }
          expected = std::max(expected, set.problem.bound(state));
        }
        EXPECT_NEAR(same[i].after[at], expected, 1e-9 * expected);
        differs |= same[i].after[at] != batch[i].after[at];
      }
    }
  }
  EXPECT_TRUE(differs);
}

// Counts what is priced, and by the word of whom.
struct CountingProblem : WalkProblem {
  using WalkProblem::WalkProblem;
  double price(const State& s, const Kernel& k) const {
    ++priced;
    return WalkProblem::price(s, k);
  }
  mutable std::uint64_t priced = 0;
};

struct CountingGuide {
  using Latent = LatentVector;
  static constexpr bool drops = true;
  LatentVector root(const CountingProblem& p, const State& s) const { return guide->root(p, s); }
  void consider(const CountingProblem& p, std::span<search::Expansion<CountingProblem, Latent>> batch) {
    std::vector<Expansion> inner;
    for (const auto& e : batch) inner.push_back({.state = e.state, .latent = e.latent, .kernels = e.kernels});
    const std::uint64_t before = p.priced;
    guide->consider(p, inner);
    EXPECT_EQ(p.priced, before) << "a guide has priced";
    for (std::size_t i = 0; i < batch.size(); ++i) {
      *kept += inner[i].keep.size();
      batch[i].keep = std::move(inner[i].keep);
      batch[i].prior = std::move(inner[i].prior);
      batch[i].after = std::move(inner[i].after);
      batch[i].latents = std::move(inner[i].latents);
    }
  }
  WalkGuide* guide = nullptr;
  std::uint64_t* kept = nullptr;  // of all copies together
};

TEST(WalkGuide, every_kernel_that_is_priced_is_a_step_and_was_kept) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Workload w = drawn(seed, 12, seed % 2 == 0 ? GraphKind::mixed : GraphKind::memory_bound);
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::Features features(w.graph, w.hardware, runs);
    const CountingProblem problem(w.graph, w.hardware, runs, walk::ProblemOptions{});
    for (int lookahead = 0; lookahead <= 2; ++lookahead) {
      WalkGuide inner(tiny_models(), features, {.keeping = {3, 2}, .value = true, .lookahead = lookahead});
      std::uint64_t kept = 0;
      CountingGuide guide{.guide = &inner, .kept = &kept};
      problem.priced = 0;
      const auto beam = search::beam(problem, guide, {.width = 8});
      ASSERT_TRUE(beam.found);
      EXPECT_EQ(beam.steps, kept);
      EXPECT_EQ(beam.steps, problem.priced);
      kept = problem.priced = 0;
      const auto mcts = search::mcts(problem, {.budget = {.steps = 3000}}, std::nullopt, guide);
      ASSERT_TRUE(mcts.found);
      EXPECT_EQ(mcts.steps, problem.priced);
      EXPECT_LE(problem.priced, kept);
    }
  }
}

TEST(WalkGuide, a_guided_beam_prices_no_more_than_it_may) {
  const Set set(drawn(5, 20));
  const auto free = search::beam(set.problem, {.width = 8});
  std::uint64_t before = 0;
  for (const std::size_t most : {1U, 2U, 4U}) {
    WalkGuide guide(tiny_models(), set.features, {.keeping = {most, 1e6F}});
    const auto guided = search::beam(set.problem, guide, {.width = 8});
    EXPECT_LE(guided.steps, most * guided.states);
    EXPECT_GT(guided.steps, before);
    before = guided.steps;
  }
  EXPECT_LT(before, free.steps / 2);
}

// On small odd graphs, tight in memory, whose optimum is known.
TEST(WalkGuide, nothing_wrong_is_claimed_whatever_the_models_say) {
  Dice dice(8);
  int graphs = 0, proven = 0, missed = 0;
  for (int i = 0; i < 130; ++i) {
    const Workload w = random_workload(dice, {.nodes = 4 + i % 5, .costly = i % 7 == 0});
    SolveOptions options;
    std::optional<Solution> exact;
    try {
      exact = solve(w, {.engine = Engine::exact});
    } catch (const Error&) {
      continue;  // no node fits
    }
    ASSERT_EQ(exact->proof, search::Proof::optimal);
    ++graphs;
    options.guide = nullptr;
    const WalkModels models = tiny_models();
    options.guide = &models;
    options.guide_options = {.keeping = {static_cast<std::size_t>(1 + i % 4), 2},
                             .value = i % 3 != 0,
                             .lookahead = i % 3 == 0 ? 0 : i % 3};
    for (const Engine engine : {Engine::beam, Engine::mcts, Engine::automatic}) {
      options.engine = engine;
      options.budget.steps = engine == Engine::mcts ? 500 : 100'000;
      const Solution guided = solve(w, options);
      ASSERT_TRUE(guided.found);
      EXPECT_GE(guided.cost, exact->cost * (1 - 1e-9)) << i;
      EXPECT_LE(guided.lower_bound, exact->cost * (1 + 1e-9)) << i << ' ' << name(engine);
      const Simulation checked = simulate(w.graph, w.hardware, guided.plan, {});
      ASSERT_FALSE(checked.fault);
      EXPECT_EQ(checked.latency, guided.latency);
      EXPECT_NEAR(guided.cost, guided.latency, 1e-9 * guided.latency);
      const bool is_best = guided.cost <= exact->cost * (1 + 1e-9);
      if (guided.proof == search::Proof::optimal) {
        EXPECT_TRUE(is_best) << i << ' ' << name(engine);
        if (engine == Engine::beam) ++proven;
      }
      if (engine == Engine::beam && !is_best) ++missed;
      if (engine == Engine::automatic) {
        EXPECT_TRUE(is_best) << "its prover takes no guide";
      }
    }
  }
  EXPECT_GT(graphs, 100);
  EXPECT_GT(missed, 5) << "the guides are too good for this test";
  EXPECT_LT(proven, graphs) << "a beam that leaves kernels out proves nothing";
}

// The portfolio's prover takes no guide, and begins alone: here the others get a word in before it is done.
TEST(WalkGuide, a_portfolio_of_guided_engines_claims_nothing_wrong_either) {
  const tbb::global_control one_after_the_other(tbb::global_control::max_allowed_parallelism, 1);
  std::set<std::string> engines;
  int unproven = 0, guided = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Workload w = dense(30 + 2 * static_cast<int>(seed % 6));
    const walk::RunTable runs(w.graph, w.hardware);
    const walk::Features features(w.graph, w.hardware, runs);
    const CountingProblem problem(w.graph, w.hardware, runs, walk::ProblemOptions{});
    const double optimum = search::exact(problem).cost;
    WalkGuide inner(tiny_models(), features, {.keeping = {2, 1}, .value = seed % 3 == 0});
    std::uint64_t kept = 0;
    CountingGuide guide{.guide = &inner, .kept = &kept};
    problem.priced = 0;
    const auto outcome =
        search::Portfolio(problem, guide,
                          {.budget = {.steps = 6000 + 2000 * seed}, .first_steps = 10, .round_steps = 30},
                          problem.initial())
            .run();
    ASSERT_TRUE(outcome.found);
    guided += kept > 0 ? 1 : 0;
    EXPECT_EQ(outcome.steps, problem.priced) << seed;
    EXPECT_GE(outcome.cost, optimum * (1 - 1e-9)) << seed;
    EXPECT_LE(outcome.lower_bound, optimum * (1 + 1e-9)) << seed;
    if (outcome.proof == search::Proof::optimal) {
      EXPECT_LE(outcome.cost, optimum * (1 + 1e-9)) << seed;
    } else {
      ++unproven;
    }
    engines.insert(std::string(outcome.engine));
  }
  EXPECT_GT(unproven, 3);
  EXPECT_GT(guided, 10);
  EXPECT_GT(engines.size(), 1U);
}

TEST(WalkGuide, beams_that_dropped_something_prove_nothing) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Set set(drawn(seed, 8));
    WalkGuide guide(tiny_models(), set.features, {.keeping = {1, 0}});
    const auto guided = search::beam(set.problem, guide, {.width = search::unlimited});
    EXPECT_EQ(guided.proof, search::Proof::none);
    EXPECT_LE(guided.lower_bound, search::exact(set.problem).cost * (1 + 1e-9));
  }
}

TEST(WalkGuide, the_same_seed_and_threads_give_the_same_answer) {
  const WalkModels models = tiny_models();
  const Workload w = dense(120);
  for (const Engine engine : {Engine::automatic, Engine::mcts, Engine::beam})
    for (const bool value : {false, true}) {
      SolveOptions options = {.engine = engine, .budget = {.steps = 160'000}, .seed = 3, .threads = 2};
      if (engine != Engine::automatic) options.budget.steps = 12'000;
      options.guide = &models;
      options.guide_options.value = value;
      const Solution one = solve(w, options), two = solve(w, options);
      EXPECT_GT(one.steps, engine == Engine::automatic ? 1U << 17 : 0U);  // more than its prover's first turn
      EXPECT_EQ(one.plan, two.plan);
      EXPECT_EQ(one.cost, two.cost);
      EXPECT_EQ(one.lower_bound, two.lower_bound);
      EXPECT_EQ(one.steps, two.steps);
      EXPECT_EQ(one.states, two.states);
      EXPECT_EQ(one.engine, two.engine);
    }
}

TEST(WalkGuide, copies_work_side_by_side_as_alone) {
  const Set set(drawn(7, 20));
  WalkGuide guide(tiny_models(), set.features, {.keeping = {3, 2}, .value = true, .lookahead = 1});
  const auto alone = search::beam(set.problem, guide, {.width = 8});
  std::vector<double> costs(4);
  std::vector<std::uint64_t> steps(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < costs.size(); ++t)
    threads.emplace_back([&, t, copy = guide]() mutable {
      for (int again = 0; again < 3; ++again) {
        const auto outcome = search::beam(set.problem, copy, {.width = 8});
        costs[t] = outcome.cost;
        steps[t] = outcome.steps;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < costs.size(); ++t) {
    EXPECT_EQ(costs[t], alone.cost);
    EXPECT_EQ(steps[t], alone.steps);
  }
}

TEST(WalkGuide, refuses_what_it_was_not_made_for) {
  const WalkModels models = tiny_models();
  const auto error = [&](SolveOptions options) {
    options.guide = &models;
    return error_of([&] { (void)solve(drawn(1), options); });
  };
  for (const Engine engine : {Engine::exact, Engine::local, Engine::greedy, Engine::naive})
    EXPECT_EQ(error({.engine = engine}),
              fmt::format("guide: the engine {} takes none; expected auto, beam or mcts", name(engine)));
  for (const walk::Rules rules : {walk::Rules::seed, walk::Rules::physical})
    EXPECT_EQ(error({.rules = rules, .engine = Engine::beam}),
              fmt::format("guide: trained under the rules seed-honest; expected no guide under {}",
                          walk::name(rules)));
  EXPECT_THAT(error({.rules = walk::Rules::physical, .order = walk::Order::free, .engine = Engine::beam}),
              HasSubstr("expected no guide under physical"));
}

TEST(WalkGuide, rolling_nothing_is_nothing_and_a_workload_of_another_width_is_refused) {
  const learn::ScheduleModel& model = *tiny_models().schedules;
  learn::RollScratch rolled;
  const learn::Matrix<float> none(model.latent(), 0);
  model.roll({.start = none, .tokens = {}, .lengths = {}}, rolled);
  EXPECT_EQ(rolled.last.view().cols(), 0);
  const std::vector<float> narrow(walk::workload_schema().size() - 1);
  EXPECT_EQ(
      error_of([&] { (void)model.start(narrow); }),
      fmt::format("a workload with {} features; this model expects {}", narrow.size(), narrow.size() + 1));
  // An engine may ask about no state at all.
  const Set set(drawn(1));
  for (const bool value : {false, true}) {
    WalkGuide guide(tiny_models(), set.features, {.value = value, .lookahead = value ? 2 : 0});
    guide.consider(set.problem, {});
  }
}

TEST(WalkGuide, refuses_models_of_other_widths) {
  const Set set(drawn(1));
  const auto error = [&](const WalkModels& models, bool value = true) {
    return error_of([&] { WalkGuide(models, set.features, {.value = value}); });
  };
  WalkModels other = tiny_models();
  other.schedules = std::make_shared<const learn::ScheduleModel>(untrained_schedules(9));
  EXPECT_EQ(error(other),
            fmt::format("the value head has {} inputs; expected {}, latent and state",
                        value_inputs(*tiny_models().schedules), value_inputs(*other.schedules)));
  EXPECT_EQ(error(other, false), "no error");  // not asked
  other.schedules = std::make_shared<const learn::ScheduleModel>(untrained_schedules(most_latent + 1));
  EXPECT_EQ(error(other), "latents of 65 numbers; a guide carries 64 at most");
  const std::vector<float> rows = {0, 1, 0, 1}, labels = {0, 1, 0, 1};
  const std::vector<std::uint32_t> groups = {4};
  const Eigen::Map<const learn::Matrix<float>> data(rows.data(), 1, 4);
  WalkModels narrow = tiny_models();
  narrow.decisions = std::make_shared<const learn::FlatTrees>(
      learn::train_ranker({.rows = data, .labels = labels, .groups = groups}, {.rounds = 1}), "narrow");
  EXPECT_EQ(error(narrow), fmt::format("the ranker has 1 features; expected the {} of walk.decision",
                                       walk::DecisionRows::width()));
}

}  // namespace
}  // namespace fuselage::oracle

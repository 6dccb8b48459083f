// The fusionops game: what text is read as, what steps leave behind, and what an agent reads.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "error_of.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/evaluate.h"
#include "grid_problems.h"

namespace fuselage::grid {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Instance& task(std::string_view name) {
  return find_fusionops_task(name)->instance;
}

// "none", or the fields of the step.
std::string reading(std::string_view text) {
  const auto step =
      parse_step(text, {.capacity = 1, .bandwidth = 1, .native_width = 96, .native_height = 48});
  if (!step) return "none";
  const auto [w, h, k] = step->granularity;
  return fmt::format("{} {} {} {} {} {}", step->ops, w, h, k, step->retain,
                     step->traversal ? fmt::format("{}", *step->traversal) : "raster");
}

TEST(FusionopsAnswer, TheFormatIsRead) {
  EXPECT_EQ(reading("SCHEDULE ops=[0,1] config=[128,64,32] retain=[2] traversal=[0,1,3,2]"),
            "[0, 1] 128 64 32 [2] [0, 1, 3, 2]");
  EXPECT_EQ(reading("I think\n```\nretain = [ 4 ,-5, ]\nops =\t[3]\n``` config=[1,2,3]"),
            "[3] 1 2 3 [4, -5] raster");
  EXPECT_EQ(reading("ops=[1] ops=[2] config=[1,2] config=[3,4]"), "[1] 1 2 1 [] raster");
  EXPECT_EQ(reading("ops=[+1,0_2, 1_0 ,,]"), "[1, 2, 10] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[]"), "[] 96 48 1 [] raster");
}

TEST(FusionopsAnswer, OpsMayDoWithoutBrackets) {
  EXPECT_EQ(reading("ops=0, 1,2 config=[8,8,8]"), "[0, 1, 2] 8 8 8 [] raster");
  EXPECT_EQ(reading("ops = 7"), "[7] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=3 then ops=[4]"), "[4] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=3 4"), "none");
  EXPECT_EQ(reading("ops=-3"), "none");
}

TEST(FusionopsAnswer, WithoutOpsThereIsNoStep) {
  for (const char* text :
       {"", "SCHEDULE", "schedule 0", "ops=[a] config=[128,128,1]", "OPS=[0]", "ops=[0", "ops:[0]",
        "ops=[0.5]", "ops=[[0]]", "ops=[1 2]", "ops=[1__0]", "ops=[_1]", "ops=[1_]", "ops=[- 1]"})
    EXPECT_EQ(reading(text), "none") << text;
}

TEST(FusionopsAnswer, OddFieldsAreLeftOut) {
  EXPECT_EQ(reading("ops=[0] config=[1]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] config=[1,2,3,4]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] config=[1,2,]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] config=[a,2,3]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] config=64"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] config=[0,-2]"), "[0] 0 -2 1 [] raster");
  EXPECT_EQ(reading("ops=[0] retain=[1,x]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] traversal=[]"), "[0] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[0] traversal=[0,,1]"), "[0] 96 48 1 [] raster");
}

TEST(FusionopsAnswer, NumbersOfAnySizeAreRead) {
  const std::string digits(4300, '9');
  EXPECT_EQ(reading("ops=[" + digits + ",-" + digits + "]"), "[2147483647, -2147483648] 96 48 1 [] raster");
  EXPECT_EQ(reading("ops=[" + digits + "9]"), "none");
  EXPECT_EQ(reading("ops=[0] config=[99999999999999999999,-99999999999999999999]"),
            "[0] 9223372036854775807 -9223372036854775808 1 [] raster");
}

TEST(FusionopsAnswer, LongHostileTextsEndSoon) {
  const auto many = [](std::string_view part) {
    std::string text;
    while (text.size() < 2'000'000) text += part;
    return text;
  };
  for (const char* part :
       {"ops", "ops=", "ops=[", "ops = [0,", "ops =", "[", "]", " ", "ops=1", "config=[1,", "ops =[]"}) {
    const std::string text = many(part);
    EXPECT_NO_THROW(parse_step(text, machine_of(1)));
    EXPECT_NO_THROW(parse_step("ops=[0] " + text + "]", machine_of(1)));
  }
  Episode episode(task("task4_multistage"));
  episode.step("ops=[" + many("0,") + "]");
  EXPECT_THAT(episode.observation(), HasSubstr("Duplicate"));
  episode.step("ops=[0] retain=[" + many("8,") + "]");
  EXPECT_THAT(episode.fast_memory(), ElementsAre(8));
  episode.step("ops=[1] traversal=[" + many("0,") + "0]");
  EXPECT_THAT(episode.observation(), HasSubstr("Traversal order length"));
}

TEST(FusionopsAnswer, StepsReadBack) {
  const Kernel step{.ops = {3, 1}, .granularity = {8, 16, 32}, .retain = {5, 2}, .traversal = {{1, 0}}};
  EXPECT_EQ(step_text(step), "SCHEDULE ops=[3,1] config=[8,16,32] retain=[5,2] traversal=[1,0]");
  EXPECT_EQ(parse_step(step_text(step), machine_of(1)), step);
  const Kernel empty{.ops = {}, .granularity = {1, 1, 1}};
  EXPECT_EQ(step_text(empty), "SCHEDULE ops=[] config=[1,1,1] retain=[]");
  EXPECT_EQ(parse_step(step_text(empty), machine_of(1)), empty);
}

TEST(FusionopsEpisode, AStepIsPaid) {
  Episode episode(task("task1_linear"), {.max_steps = 10});
  const StepResult result = episode.step("SCHEDULE ops=[0,1] config=[128,128,1] retain=[2]");
  ASSERT_TRUE(result.cost);
  // Loads 16384 / 10 and computes 1400; T2 is retained, not stored.
  EXPECT_DOUBLE_EQ(result.cost->latency, 1638.4);
  EXPECT_EQ(result.cost->working_set, 32768);
  EXPECT_DOUBLE_EQ(result.reward, 0.02 - 1638.4 / (19660.8 / 6) * 0.1 + 0.05);
  EXPECT_FALSE(result.done);
  EXPECT_THAT(episode.fast_memory(), ElementsAre(2));
  EXPECT_EQ(episode.fast_memory_used(), 16384);
  EXPECT_THAT(episode.covered(), ElementsAre(0, 1));
  EXPECT_THAT(episode.ready(), ElementsAre(2));
  EXPECT_EQ(episode.score(), 2.0 / 6 * 0.1);
  EXPECT_EQ(episode.readme_score(), std::nullopt);
  const StepResult last = episode.step("ops=[2,3,4,5]");
  EXPECT_TRUE(last.done);
  EXPECT_TRUE(episode.complete());
  EXPECT_EQ(episode.plan().kernels.size(), 2U);
  EXPECT_DOUBLE_EQ(episode.readme_score().value(), (19660.8 - episode.total_latency()) / 19660.8);
}

TEST(FusionopsEpisode, TextThatIsNoStepCostsNoStep) {
  Episode episode(task("task1_linear"), {.max_steps = 1});
  const StepResult result = episode.step("hello");
  EXPECT_EQ(result.reward, -0.10);
  EXPECT_FALSE(result.counted);
  EXPECT_FALSE(result.done);
  EXPECT_EQ(episode.steps(), 0);
  EXPECT_EQ(episode.return_sum(), 0);
  const StepResult refused = episode.step("ops=[1]");
  EXPECT_TRUE(refused.counted);
  EXPECT_TRUE(refused.done);
  EXPECT_EQ(episode.return_sum(), -0.20);
}

TEST(FusionopsEpisode, AfterTheEndNothingHappens) {
  Episode episode(task("task1_linear"));
  episode.step("ops=[0,1,2,3,4,5]");
  ASSERT_TRUE(episode.done());
  const std::string text = episode.observation();
  EXPECT_THAT(text, AllOf(HasSubstr("THE END: every op ran; score 0.6689"), Not(HasSubstr("VALID NOW"))));
  for (const char* action : {"ops=[0]", "ops=[9]", "hello"}) {
    const StepResult result = episode.step(action);
    EXPECT_TRUE(result.done);
    EXPECT_EQ(result.reward, 0);
    EXPECT_FALSE(result.counted);
  }
  EXPECT_EQ(episode.observation(), text);
  episode.reset();
  EXPECT_EQ(episode.observation(), Episode(task("task1_linear")).observation());
}

TEST(FusionopsEpisode, HonestGamesEndWhenTheOutputsAreStored) {
  const EpisodeOptions honest{.rules = RuleSet::fusionops_honest, .max_steps = 5};
  Episode episode(task("task1_linear"), honest);
  episode.step("ops=[0,1,2,3,4,5] retain=[6]");
  EXPECT_FALSE(episode.done());
  EXPECT_FALSE(episode.complete());
  EXPECT_THAT(episode.unstored_outputs(), ElementsAre(6));
  EXPECT_EQ(episode.score(), 0.1);
  EXPECT_THAT(episode.observation(), HasSubstr("graph outputs made but not stored: [6]"));
  const StepResult lost = episode.step("ops=[5]");  // T5 was read within its step
  ASSERT_TRUE(lost.error);
  EXPECT_EQ(lost.error->fault, StepFault::not_stored);
  EXPECT_EQ(lost.reward, -0.20);
  // T6 takes room until the step is over, so native tiles don't fit.
  EXPECT_THAT(episode.observation(), HasSubstr("\nSCHEDULE ops=[0,1,2,3,4,5] config=[64,64,1] retain=[]\n"));
  const StepResult last = episode.step("ops=[0,1,2,3,4,5] config=[64,64]");
  EXPECT_TRUE(last.done);
  EXPECT_TRUE(episode.complete());
  EXPECT_DOUBLE_EQ(last.reward,
                   0.02 - 4 * 3900 / (19660.8 / 6) * 0.1 + 5 * 0.05 + 19660.8 / (5 * 3900) * 0.5);

  Episode loose(task("task1_linear"), {.max_steps = 5});
  EXPECT_TRUE(loose.step("ops=[0,1,2,3,4,5] retain=[6]").done);
}

TEST(FusionopsEpisode, OptionsAreChecked) {
  EXPECT_EQ(error_of([] { Episode(task("task1_linear"), {.rules = RuleSet::mlsys}); }),
            "rules: mlsys has no episodes; expected fusionops or fusionops-honest");
  EXPECT_EQ(error_of([] { Episode(task("task1_linear"), {.max_steps = 0}); }),
            "max_steps: 0 is out of range; expected an integer >= 1");
}

// Plays at random: examples, their neighbours, and nonsense.
class RandomPlay {
 public:
  RandomPlay(Episode& episode, unsigned seed) : episode_(episode), random_(seed) {}

  std::string action() {
    const std::vector<std::string> examples = valid_now(episode_.observation());
    if (!examples.empty() && pick(4) != 0) return examples[pick(examples.size())];
    switch (pick(3)) {
      case 0:
        return "no idea";
      case 1:
        return fmt::format("ops=[{},{}] config=[{},{},{}] retain=[{}]", pick(9), pick(9), pick(200),
                           pick(200), pick(200), pick(16));
      default:
        return fmt::format("ops=[{}] config=[64,64,32] traversal=[2,0,1,3]", pick(8));
    }
  }

  static std::vector<std::string> valid_now(const std::string& observation) {
    std::vector<std::string> lines;
    auto at = observation.find("ACTIONS THAT ARE VALID NOW");
    if (at == std::string::npos) return lines;
    at = observation.find('\n', at) + 1;
    for (auto end = observation.find('\n', at); end > at; end = observation.find('\n', at)) {
      lines.push_back(observation.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

 private:
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  Episode& episode_;
  std::mt19937 random_;
};

void check_examples(const Episode& episode) {
  const std::vector<std::string> examples = RandomPlay::valid_now(episode.observation());
  EXPECT_EQ(episode.observation(false).find("VALID NOW"), std::string::npos);
  if (episode.done()) {
    EXPECT_THAT(examples, IsEmpty());
    return;
  }
  EXPECT_GE(examples.size(), 2U) << episode.observation();
  EXPECT_LE(examples.size(), 4U);
  for (const std::string& example : examples) {
    Episode ahead = episode;
    EXPECT_TRUE(ahead.step(example).cost) << example << "\n" << episode.observation();
  }
}

void check_laws(const FusionopsTask& task, const EpisodeOptions& options, unsigned seed) {
  Episode episode(task.instance, options);
  RandomPlay play(episode, seed);
  double return_sum = 0;
  double total = 0;
  int steps = 0;
  for (int i = 0; i < 60 && !episode.done(); ++i) {
    check_examples(episode);
    const std::string action = play.action();
    const StepResult result = episode.step(action);
    EXPECT_NE(result.cost.has_value(), result.error.has_value());
    EXPECT_EQ(result.done, episode.done());
    if (result.counted) return_sum += result.reward;
    if (result.counted) ++steps;
    if (result.cost) total += result.cost->latency;
    EXPECT_EQ(episode.done(), episode.complete() || steps == options.max_steps);
    EXPECT_EQ(episode.steps(), steps);
    EXPECT_EQ(episode.total_latency(), total);
    EXPECT_EQ(episode.return_sum(), return_sum);
    EXPECT_EQ(episode.covered_ops(), static_cast<int>(episode.covered().size()));
    EXPECT_EQ(episode.readme_score().has_value(), episode.complete());
    EXPECT_LE(episode.score(), episode.complete() ? 1 : 0.1);
  }
  const Evaluation evaluation = evaluate(task.instance, {.set = options.rules}, episode.plan());
  EXPECT_EQ(evaluation.valid(), episode.complete());
  EXPECT_EQ(evaluation.latency, total);
  check_examples(episode);
}

TEST(FusionopsEpisode, Laws) {
  for (const FusionopsTask& task : fusionops_tasks())
    for (const RuleSet rules : {RuleSet::fusionops, RuleSet::fusionops_honest})
      for (unsigned seed = 0; seed < 40; ++seed)
        check_laws(task, {.rules = rules, .max_steps = task.max_steps}, seed);
}

TEST(FusionopsObservation, HasASectionForEverySubject) {
  Episode episode(task("task3_matmul"), {.max_steps = 15});
  EXPECT_THAT(episode.observation(), AllOf(HasSubstr("LAST ACTION\nnone yet\n"), HasSubstr("step 0 of 15")));
  episode.step("SCHEDULE ops=[0] config=[128,128,64] retain=[4]");
  episode.step("SCHEDULE ops=[1] config=[64,128,128] retain=[5] traversal=[1,0]");
  const std::string text = episode.observation();
  for (const char* line :
       {"valid: latency 4000, working set 32768, 2 tiles x 1 k-steps", "step 2 of 15, 2 of 4 ops run",
        "latency so far 7457.6, naive for all ops 18022.4 (41.4 %)", "completed ops: [0,1]", "ready ops: [2]",
        "tensors [5], 16384 of 50000 elements used (32.8 %), 33616 free",
        "0: MatMul [0,1] -> [4], cost 2000, K 128: completed", "2: Pointwise [5] -> [6], cost 500: ready",
        "3: MatMul [6,3] -> [7], cost 2000, K 128: waits for [2]",
        "0: 128 x 128 = 16384, graph input, in slow memory", "4: 128 x 128 = 16384, in slow memory",
        "5: 128 x 128 = 16384, in fast memory", "6: 128 x 128 = 16384, not made yet",
        "7: 128 x 128 = 16384, graph output, not made yet",
        "SCHEDULE ops=[2,3] config=[128,128,128] retain=[]", "must fit in 50000 elements",
        "An op may run again.",
        "SCHEDULE ops=[op,...] config=[w,h,k] retain=[tensor,...] traversal=[tile,...]"})
    EXPECT_THAT(text, HasSubstr(fmt::format("{}", line))) << line;
}

TEST(FusionopsObservation, ErrorsComeWithReasonAndHint) {
  const auto after = [](std::string_view action, const EpisodeOptions& options = {}) {
    Episode episode(task("task4_multistage"), options);
    episode.step("ops=[0,1] config=[128,128,32]");
    episode.step(action);
    const std::string text = episode.observation(false);
    return text.substr(0, text.find("\n\n"));
  };
  EXPECT_EQ(after("what?"),
            "LAST ACTION\nrefused: Parse Error (invalid action format)\nreason: Parse error\n"
            "hint: write one line in the format at the end; ops needs integers between brackets\n"
            "reward: -0.1000 (no step was used)");
  EXPECT_EQ(after("ops=[2] config=[128,128,128]"),
            "LAST ACTION\nvalid: latency 4915.2, working set 49152, 1 tiles x 1 k-steps\nreward: -0.1000");
  EXPECT_EQ(after("ops=[2] config=[256,128,128]"),
            "LAST ACTION\nrefused: Memory Error (working set too large)\n"
            "reason: OOM: working set 81920 exceeds fast memory capacity 60000\n"
            "hint: config=[128,128,128] fits for these ops\nreward: -0.0500");
  EXPECT_THAT(after("ops=[8]"), HasSubstr("hint: ops are numbered from 0 to 7; ready are [2]"));
  EXPECT_THAT(after("ops=[3]"), HasSubstr("hint: run that op first, or add it to the step; ready are [2]"));
  EXPECT_THAT(after("ops=[2,2]"), HasSubstr("hint: name each op once"));
  EXPECT_THAT(after("ops=[0]", {.allow_recomputation = false}),
              HasSubstr("hint: no op may run twice here; ready are [2]"));
  EXPECT_THAT(after("ops=[0,2]"), HasSubstr("hint: every op of a step must read from or make for another"));
  EXPECT_THAT(after("ops=[2] config=[0,1,1]"), HasSubstr("hint: w, h and k must be at least 1"));
  EXPECT_THAT(after("ops=[2] retain=[3]"), HasSubstr("hint: these ops make [10]"));
  EXPECT_THAT(after("ops=[2] config=[128,128,64] traversal=[1]"),
              HasSubstr("hint: list every tile from 0 once"));
  EXPECT_THAT(after("ops=[1]", {.rules = RuleSet::fusionops_honest}),
              AllOf(HasSubstr("Dependency Error"),
                    HasSubstr("reason: Tensor lost: op 1 needs tensor 8, which op 0 made"),
                    HasSubstr("hint: let the op that makes the tensor run again")));
}

TEST(FusionopsObservation, WhatFitsNowhereIsSaid) {
  const Instance instance(squares(2, 4), {pointwise({0}, 1, 1)}, machine_of(1));
  Episode episode(instance);
  episode.step("ops=[0] config=[1,1,1]");
  EXPECT_THAT(episode.observation(),
              AllOf(HasSubstr("these ops fit with no config that was tried"), Not(HasSubstr("VALID NOW"))));
}

}  // namespace
}  // namespace fuselage::grid

// fuselage-mlsys, the contest's interface: two arguments, a valid solution early, whole files only.

#include "e2e/command.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/plan_json.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/oracle/grid_anytime.h"
#include "grid_random.h"

namespace fuselage::grid {
namespace {

class MlsysCommand : public CommandTest {
 protected:
  Finished mlsys(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", FUSELAGE_MLSYS, arguments));
  }
  Evaluation judge(const Instance& instance) const {
    return evaluate(instance, {}, read_plan_file(path("solution.json").string()).plan);
  }
};

Instance middling(unsigned seed) {
  std::mt19937 random(seed);
  return random_instance(random, {.ops = 40});
}

TEST_F(MlsysCommand, stops_when_it_is_told_to_with_a_valid_solution) {
  const Instance instance = middling(1);
  write("problem.json", problem_to_json(instance));
  const Finished finished = shell(
      fmt::format("timeout --preserve-status -s INT 1 '{}' problem.json solution.json", FUSELAGE_MLSYS));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const Evaluation evaluation = judge(instance);
  EXPECT_TRUE(evaluation.valid()) << evaluation.violation->message;
}

TEST_F(MlsysCommand, killed_at_any_time_leaves_a_whole_solution_or_none) {
  for (unsigned seed = 2; seed < 10; ++seed) {
    const Instance instance = middling(seed);
    write("problem.json", problem_to_json(instance));
    shell("rm -f solution.json");
    shell(fmt::format("timeout -s KILL 0.{} '{}' problem.json solution.json; true", seed, FUSELAGE_MLSYS));
    if (!std::filesystem::exists(path("solution.json"))) continue;
    const Evaluation evaluation = judge(instance);
    EXPECT_TRUE(evaluation.valid()) << evaluation.violation->message;
  }
}

TEST_F(MlsysCommand, refuses_what_it_cannot_do) {
  EXPECT_EQ(mlsys("").exit_code, 2);
  EXPECT_EQ(mlsys("problem.json").exit_code, 2);
  const Finished missing = mlsys("nowhere.json solution.json");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("nowhere.json"), std::string::npos) << missing.err;
  EXPECT_EQ(mlsys("--help").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("solution.json")));
}

TEST(GridAnytime, every_plan_is_valid_and_better_than_the_one_before) {
  for (unsigned seed = 20; seed < 26; ++seed) {
    const Instance instance = middling(seed);
    double last = std::numeric_limits<double>::infinity();
    int found = 0;
    oracle::improve_grid(instance,
                         {.wall_seconds = 0.3, .found = [&](const Plan& plan, const Evaluation& evaluation) {
                            ++found;
                            EXPECT_TRUE(evaluate(instance, {}, plan).valid());
                            EXPECT_LT(evaluation.latency, last);
                            last = evaluation.latency;
                          }});
    EXPECT_GE(found, 1);
  }
}

}  // namespace
}  // namespace fuselage::grid

// `search --price` and `search --pareto` as a user runs them.

#include <gmock/gmock.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using SearchPareto = CommandTest;

TEST_F(SearchPareto, a_front_goes_from_the_fastest_plan_to_the_one_that_moves_least) {
  const json answer = run_json("search task4_mixed --pareto traffic");
  const json& result = answer.at("results").at(0);
  EXPECT_EQ(result.at("proof"), "optimal");
  const json& points = result.at("points");
  ASSERT_EQ(points.size(), 8U);
  EXPECT_NEAR(points.front().at("latency").get<double>(), 3285973.65, 0.005);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GT(points[i].at("latency"), points[i - 1].at("latency"));
    EXPECT_LT(points[i].at("bytes_moved"), points[i - 1].at("bytes_moved"));
  }
}

TEST_F(SearchPareto, the_table_has_a_row_a_point_and_plans_pass_the_check) {
  const Finished table = run("search task4_mixed --rules physical --pareto traffic --out plans");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("3,283,789.12    2,883,584"));
  EXPECT_EQ(list("plans"), (std::vector<std::string>{"task4_mixed-1.json", "task4_mixed-2.json"}));
  for (const char* plan : {"plans/task4_mixed-1.json", "plans/task4_mixed-2.json"})
    EXPECT_EQ(run(fmt::format("check {}", plan)).exit_code, 0) << plan;
}

TEST_F(SearchPareto, a_price_trades_latency_for_traffic) {
  const json free = run_json("search task4_mixed --no-store").at("results").at(0);
  const json priced =
      run_json("search task4_mixed --price traffic=0.5,launch=100 --no-store").at("results").at(0);
  EXPECT_LT(priced.at("bytes_moved"), free.at("bytes_moved"));
  EXPECT_GT(priced.at("latency"), free.at("latency"));
  EXPECT_NEAR(priced.at("objective").get<double>(),
              priced.at("latency").get<double>() + 0.5 * priced.at("bytes_moved").get<double>() +
                  100 * priced.at("launches").get<double>(),
              1e-6);
  EXPECT_EQ(priced.at("lower_bound"), priced.at("objective"));
}

TEST_F(SearchPareto, bad_values_are_refused) {
  const std::pair<const char*, const char*> cases[] = {{"--price traffic=-1", "--price: "},
                                                       {"--price trafic=1", "trafic"},
                                                       {"--price traffic=1,traffic=2", "twice"},
                                                       {"--price \"\"", "--price: "},
                                                       {"--price traffic=nan", "--price: "},
                                                       {"--pareto energy", "--pareto: "},
                                                       {"--pareto traffic --price launch=1", "--pareto: "}};
  for (const auto& [options, words] : cases) {
    const Finished refused = run(fmt::format("search task1_chain {}", options));
    EXPECT_EQ(refused.exit_code, 2) << options;
    EXPECT_THAT(refused.err, HasSubstr(words)) << options;
    EXPECT_EQ(refused.out, "") << options;
  }
}

}  // namespace
}  // namespace fuselage

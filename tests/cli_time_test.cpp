// --time of the commands where it means all that they do: they end early, say so, and lose nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

class TimeOfACommand : public CommandTest {};

TEST_F(TimeOfACommand, an_audit_tells_what_it_has) {
  const Finished finished = run("audit --family walk --time 0.01");
  EXPECT_THAT(finished.err, HasSubstr("time is up: "));
  EXPECT_THAT(finished.err, HasSubstr(" of 5 games were audited"));
  EXPECT_LE(finished.exit_code, 1);
}

TEST_F(TimeOfACommand, counterfactuals_writes_the_pairs_that_it_has) {
  const Finished finished = run("counterfactuals --graphs 20000 --time 0.5 --out pairs.jsonl");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("time is up: "));
  EXPECT_GT(lines(read("pairs.jsonl")).size(), 0U);
}

TEST_F(TimeOfACommand, oracle_goes_on_where_it_ended) {
  const std::string command = "oracle --graphs 40 --shard-size 4 --threads 1 --out ";
  EXPECT_EQ(run(command + "cut --time 0.05").exit_code, 1);
  EXPECT_EQ(run(command + "cut").exit_code, 0);
  EXPECT_EQ(run(command + "whole").exit_code, 0);
  EXPECT_EQ(shell("diff -r cut whole").exit_code, 0);
}

TEST_F(TimeOfACommand, headroom_shares_it_among_its_searches) {
  const Finished finished = run("headroom all --time 0.000001");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(run("headroom --family grid --time 0.000001").exit_code, 0);
}

TEST_F(TimeOfACommand, memory_that_set_up_alone_exceeds_is_refused_with_the_need) {
  run("generate --ops 3000 --difficulty expert --seed 1 --out g.json");
  const Finished finished = run("search g.json --memory 1");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("memory: 1 MiB are allowed, but setting up its search alone takes "));
}

}  // namespace
}  // namespace fuselage

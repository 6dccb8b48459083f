#include "fuselage/oracle/policy_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "error_of.h"

namespace fuselage::oracle {
namespace {

using testing::HasSubstr;

PolicyMix parse(std::string_view text) {
  return parse_policy_mix(text, "--policy");
}

TEST(PolicyMix, names_kinds_and_weights) {
  const PolicyMix mix = parse("optimal:0.5,eps0.25:3,greedy,random:1e-3,constant64,alone256:2");
  ASSERT_EQ(mix.size(), 6U);
  EXPECT_EQ(mix[0].policy.kind, VisitKind::optimal);
  EXPECT_EQ(mix[0].weight, 0.5);
  EXPECT_EQ(mix[1].policy.kind, VisitKind::erring);
  EXPECT_EQ(mix[1].policy.epsilon, 0.25);
  EXPECT_EQ(mix[1].policy.name, "eps0.25");
  EXPECT_EQ(mix[2].policy.kind, VisitKind::reference);
  EXPECT_EQ(mix[2].weight, 1);
  EXPECT_EQ(mix[3].policy.kind, VisitKind::random);
  EXPECT_EQ(mix[4].policy.reference, "constant 64, fusing");
  EXPECT_EQ(mix[5].policy.reference, "constant 256");
}

TEST(PolicyMix, what_is_none_is_refused_by_name) {
  for (const char* text : {"", "best", "optimal,", ",optimal", "eps", "eps0", "eps2", "eps-0.1", "epsnan",
                           "epsx", "constant", "constant16", "Optimal", " optimal", "optimal :1"}) {
    EXPECT_THAT(error_of([&] { parse(text); }), HasSubstr("--policy: ")) << text;
    EXPECT_THAT(error_of([&] { parse(text); }), HasSubstr("is no policy; expected optimal, epsP")) << text;
  }
  for (const char* text : {"optimal:", "optimal:0", "optimal:-1", "optimal:nan", "optimal:inf",
                           "optimal:1e999", "optimal:1e308", "optimal:x", "optimal:1:2", "optimal:1 "})
    EXPECT_THAT(error_of([&] { parse(text); }), HasSubstr("is no weight; expected a number above 0")) << text;
  EXPECT_THAT(error_of([&] { parse("optimal,random,optimal:2"); }), HasSubstr("\"optimal\" appears twice"));
}

TEST(PolicyMix, is_drawn_by_weight) {
  const PolicyMix mix = parse("optimal:1,random:3");
  search::SplitMix random(5);
  std::map<std::string, int> drawn;
  for (int i = 0; i < 4000; ++i) ++drawn[draw_policy(mix, random).name];
  EXPECT_NEAR(drawn["optimal"], 1000, 120);
  EXPECT_NEAR(drawn["random"], 3000, 120);
}

}  // namespace
}  // namespace fuselage::oracle

// The laws that every problem must obey, whatever its family: engines rely on nothing else. Checked along
// random walks and against the exact optimum of the states met there.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fuselage/search/exact.h"
#include "random_graphs.h"

namespace fuselage::search {

template <Problem P>
double cost_to_go(const P& p, const typename P::State& s) {
  return exact(p, {.wide_layer = std::numeric_limits<std::size_t>::max()}, std::optional(s)).cost;
}

template <Problem P>
void check_state(const P& p, const typename P::State& s, const std::string& name) {
  std::vector<typename P::Kernel> kernels;
  std::vector<typename P::Kernel> again;
  EXPECT_EQ(p.kernels(s, kernels), p.kernels(s, again)) << name;
  ASSERT_EQ(kernels.size(), again.size()) << name << ": kernels are not deterministic";
  const double best = cost_to_go(p, s);
  EXPECT_LE(p.bound(s), best * (1 + 1e-9)) << name << ": the bound is not admissible";
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double price = p.price(s, kernels[i]);
    EXPECT_EQ(price, p.price(s, again[i])) << name << ": prices are not deterministic";
    EXPECT_GE(price, 0) << name;
    if (price == std::numeric_limits<double>::infinity()) continue;
    const auto next = p.apply(s, kernels[i]);
    EXPECT_TRUE(next == p.apply(s, again[i])) << name << ": apply is not deterministic";
    EXPECT_EQ(p.key(next), p.key(p.apply(s, again[i]))) << name << ": equal states, different keys";
    EXPECT_GT(p.progress(next), p.progress(s)) << name << ": a kernel without progress";
    EXPECT_LE(p.progress(next), p.horizon()) << name;
    least = std::min(least, price + cost_to_go(p, next));
  }
  if (p.progress(s) == p.horizon()) {
    EXPECT_TRUE(kernels.empty()) << name << ": kernels after the end";
    EXPECT_EQ(p.bound(s), 0) << name;
  } else if (std::isfinite(best)) {
    EXPECT_NEAR(least, best, 1e-9 * best) << name << ": a cost to go is the least over its kernels";
  }
}

// `costed`: states of equal progress with the cost at which each was reached.
template <HasDominance P>
void check_dominance(const P& p, const std::vector<std::pair<typename P::State, double>>& costed,
                     const std::string& name) {
  for (const auto& [a, cost_a] : costed) {
    for (const auto& [b, cost_b] : costed) {
      if (p.progress(a) != p.progress(b) || !p.dominates(a, cost_a, b, cost_b)) continue;
      EXPECT_EQ(p.dominance_class(a), p.dominance_class(b)) << name;
      if constexpr (HasDominanceMask<P>) {
        EXPECT_EQ(p.dominance_mask(a) & ~p.dominance_mask(b), 0U) << name;
      }
      const double best_b = cost_b + cost_to_go(p, b);
      EXPECT_LE(cost_a + cost_to_go(p, a), best_b * (1 + 1e-9)) << name << ": dominance drops a better state";
    }
  }
}

template <Problem P>
void check_laws(const P& p, Dice& dice, const std::string& name) {
  std::vector<std::pair<typename P::State, double>> met;
  for (int walk = 0; walk < 6; ++walk) {
    auto s = p.initial();
    double cost = 0;
    std::vector<typename P::Kernel> kernels;
    for (;;) {
      check_state(p, s, name);
      if (::testing::Test::HasFailure()) return;
      met.emplace_back(s, cost);
      p.kernels(s, kernels);
      if (kernels.empty()) break;
      const auto& k = kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))];
      const double price = p.price(s, k);
      if (price == std::numeric_limits<double>::infinity()) break;
      cost += price;
      s = p.apply(s, k);
    }
  }
  if constexpr (HasDominance<P>) check_dominance(p, met, name);
}

}  // namespace fuselage::search

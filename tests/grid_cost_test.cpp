// The closed form of a kernel's cost against its run, tile by tile.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fuselage/grid/kernel_cost.h"
#include "grid_random.h"

namespace fuselage::grid {
namespace {

struct Tally {
  int legal = 0;
  int closed = 0;
  int split = 0;
  int clipped = 0;
};

std::string describe(const Instance& instance, const Shape& shape, const Choice& choice) {
  const Granularity& g = choice.granularity;
  std::string text = fmt::format("w {} h {} k {} traversal {} resident {:b} retained {:b}", g.w, g.h, g.k,
                                 static_cast<int>(choice.traversal), choice.resident, choice.retained);
  for (OpId id : shape.ops()) {
    const Op& op = instance.op(id);
    text += fmt::format("\n  {} {} cost {}:", id, op.kind == OpKind::matmul ? "matmul" : "pointwise",
                        op.base_cost);
    for (TensorId t : op.inputs)
      text += fmt::format(" {} ({} x {})", t, instance.tensor(t).height, instance.tensor(t).width);
    text += fmt::format(" -> {}", op.outputs[0]);
  }
  return text;
}

void compare(const KernelPricer& pricer, const Shape& shape, const Choice& choice, Tally& tally) {
  const KernelCost price = pricer.price(shape, choice);
  const KernelCost run = pricer.simulate(shape, choice);
  const Granularity& g = choice.granularity;
  const bool within = g.w <= pricer.instance().machine().native_width &&
                      g.h <= pricer.instance().machine().native_height &&
                      (!shape.has_matmul() || (g.k <= shape.least_k() && g.k <= 16));
  const bool split =
      shape.has_matmul() && g.k < *std::max_element(shape.reductions().begin(), shape.reductions().end());
  const bool whole_strips = g.w >= shape.split_width() && g.h >= shape.split_height();
  if (!within || (split && !whole_strips)) {
    EXPECT_FALSE(price.legal());
    return;
  }
  EXPECT_EQ(price.working_set, run.working_set) << describe(pricer.instance(), shape, choice);
  ASSERT_EQ(price.legal(), run.legal());
  if (!price.legal()) return;
  EXPECT_NEAR(price.latency, run.latency, 1e-9 * run.latency) << describe(pricer.instance(), shape, choice);
  ++tally.legal;
  tally.closed += shape.closed();
  tally.split += split;
  tally.clipped += shape.width() % g.w != 0 || shape.height() % g.h != 0;
}

TEST(GridCost, closed_form_is_the_run) {
  std::mt19937 random(7);
  Tally tally;
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  while (tally.legal < 10'000) {
    const Instance instance = random_instance(random, {.ops = 3 + static_cast<int>(below(8))});
    const Rules rules{.compute = below(2) == 0 ? Compute::k : Compute::native_k};
    const KernelPricer pricer(instance, rules);
    for (int i = 0; i < 40; ++i) {
      const Shape shape(instance, rules, random_group(random, instance, 1 + static_cast<int>(below(6))));
      if (!shape.legal()) continue;
      Choice choice;
      choice.granularity = {.w = 1 + static_cast<std::int64_t>(below(16)),
                            .h = 1 + static_cast<std::int64_t>(below(16)),
                            .k = 1 + static_cast<std::int64_t>(below(16))};
      if (below(3) == 0) choice.granularity = {.w = 8, .h = 8, .k = 8};
      choice.traversal = static_cast<Traversal>(below(3));
      for (std::size_t bit = 0; bit < shape.inputs().size(); ++bit)
        if (below(4) == 0) choice.resident |= std::uint64_t{1} << bit;
      for (std::size_t bit = 0; bit < shape.made().size(); ++bit)
        if (below(4) == 0) choice.retained |= std::uint64_t{1} << bit;
      compare(pricer, shape, choice, tally);
      if (HasFatalFailure()) return;
    }
  }
  // The comparison covers what it is meant to cover.
  EXPECT_GT(tally.closed, 5'000);
  EXPECT_GT(tally.split, 1'000);
  EXPECT_GT(tally.clipped, 1'000);
}

}  // namespace
}  // namespace fuselage::grid

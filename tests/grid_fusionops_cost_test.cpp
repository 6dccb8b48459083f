// The cheapest step of a group against the rules' own judgement of every step that could be meant.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/groups.h"
#include "grid_fusionops_random.h"

namespace fuselage::grid {
namespace {

constexpr Rules loose = {.set = RuleSet::fusionops};

// All that is made has been made; `resident` are bits of the shape's inputs, `other` lies beside them.
StepState state_with(const Instance& instance, const Shape& shape, std::uint64_t resident,
                     std::optional<TensorId> other) {
  StepState state(instance);
  std::fill(state.ran.begin(), state.ran.end(), std::uint8_t{1});
  for (std::size_t i = 0; i < shape.inputs().size(); ++i)
    if (resident >> i & 1U) state.resident[static_cast<std::size_t>(shape.inputs()[i].tensor)] = 1;
  if (other) state.resident[static_cast<std::size_t>(*other)] = 1;
  return state;
}

struct Case {
  Choice choice = {};
  std::optional<TensorId> other = {};  // resident, not read
};

class Draw {
 public:
  Draw(std::mt19937& random, const Instance& instance, const Shape& shape)
      : random_(random), instance_(instance), shape_(shape) {}

  Case next(std::int64_t largest) {
    Case drawn;
    Choice& choice = drawn.choice;
    choice.granularity = {.w = side(largest), .h = side(largest), .k = side(largest)};
    choice.traversal = static_cast<Traversal>(below(3));
    for (std::size_t i = 0; i < shape_.inputs().size(); ++i)
      if (below(4) == 0) choice.resident |= std::uint64_t{1} << i;
    for (std::size_t i = 0; i < shape_.made().size(); ++i)
      if (below(4) == 0) choice.retained |= std::uint64_t{1} << i;
    const auto t = static_cast<TensorId>(below(static_cast<std::size_t>(instance_.tensor_count())));
    const auto is_read = [&](const BoundaryInput& input) { return input.tensor == t; };
    if (below(2) == 0 && std::none_of(shape_.inputs().begin(), shape_.inputs().end(), is_read)) {
      drawn.other = t;
      choice.beside = instance_.tensor(t).size();
    }
    return drawn;
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  std::int64_t side(std::int64_t largest) {
    return 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(largest)));
  }

  std::mt19937& random_;
  const Instance& instance_;
  const Shape& shape_;
};

TEST(GridFusionopsCost, prices_are_the_judges_to_the_bit) {
  int legal = 0;
  int refused = 0;
  for (unsigned seed = 0; legal < 5'000 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const Instance instance = random_outputs(random, random_instance(random, {.ops = 6, .capacity = 2000}));
    const KernelPricer pricer(instance, loose);
    const Shape shape(instance, loose, random_group(random, instance, 1 + static_cast<int>(seed % 5)));
    ASSERT_TRUE(shape.legal());
    Draw draw(random, instance, shape);
    for (int i = 0; i < 20; ++i) {
      const Case drawn = draw.next(60);
      const KernelCost price = pricer.price(shape, drawn.choice);
      const StepJudgement judged =
          judge_step(instance, {}, state_with(instance, shape, drawn.choice.resident, drawn.other),
                     kernel_of(shape, drawn.choice));
      ASSERT_EQ(price.legal(), !judged.error) << "seed " << seed;
      if (judged.error) {
        EXPECT_EQ(judged.error->fault, StepFault::memory);
        ++refused;
        continue;
      }
      EXPECT_EQ(price.latency, judged.cost.latency) << "seed " << seed;
      EXPECT_EQ(static_cast<double>(price.working_set), judged.cost.working_set) << "seed " << seed;
      ++legal;
    }
  }
  EXPECT_GT(refused, 1'000);
}

// In execution order; other orders are tried too by best().
double least_of_all(const KernelPricer& pricer, const Shape& shape, Choice choice, std::int64_t longest) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t w = 1; w <= shape.width(); ++w)
    for (std::int64_t h = 1; h <= shape.height(); ++h)
      for (std::int64_t k = 1; k <= longest; ++k)
        for (const Traversal traversal : {Traversal::raster, Traversal::row_snake, Traversal::column_snake}) {
          choice.granularity = {w, h, k};
          choice.traversal = traversal;
          least = std::min(least, pricer.price(shape, choice).latency);
        }
  return least;
}

TEST(GridFusionopsCost, no_granularity_is_cheaper_than_the_best) {
  int found = 0;
  int tiled = 0;
  int split = 0;
  for (unsigned seed = 0; found < 300 && !HasFailure(); ++seed) {
    std::mt19937 random(seed);
    const Instance instance =
        random_outputs(random, random_instance(random, {.ops = 4,
                                                        .capacity = 30 + static_cast<std::int64_t>(seed % 90),
                                                        .bandwidth = 0.5 * static_cast<double>(1 + seed % 12),
                                                        .sizes = {2, 5, 7, 10}}));
    const KernelPricer pricer(instance, loose);
    const Shape shape(instance, loose, random_group(random, instance, 1 + static_cast<int>(seed % 4)));
    Case drawn = Draw(random, instance, shape).next(2);
    const KernelPricer::Best best =
        pricer.best(shape, drawn.choice.resident, drawn.choice.retained, drawn.choice.beside);
    const double least = least_of_all(pricer, shape, drawn.choice, 10);
    if (best.cost.legal()) {
      EXPECT_LE(best.cost.latency, least * (1 + 1e-12)) << "seed " << seed;
      drawn.choice.granularity = best.granularity;
      drawn.choice.traversal = best.traversal;
      drawn.choice.order = best.order;
      EXPECT_EQ(pricer.price(shape, drawn.choice).latency, best.cost.latency) << "seed " << seed;
      if (best.order == 0) {
        EXPECT_NEAR(best.cost.latency, least, 1e-12 * least) << "seed " << seed;
      }
      ++found;
      tiled += best.granularity.w < shape.width() && best.granularity.h < shape.height();
      split += shape.has_matmul() && best.granularity.k < shape.least_k();
    } else {
      EXPECT_EQ(least, std::numeric_limits<double>::infinity()) << "seed " << seed;
    }
  }
  EXPECT_GT(tiled, 20);
  EXPECT_GT(split, 20);
}

// Tensors far beyond fast memory need more than 16 tiles an axis.
TEST(GridFusionopsCost, what_fits_no_few_tiles_gets_more) {
  const Instance instance({{4096, 4096}, {4096, 4096}, {4096, 4096}},
                          {{.kind = OpKind::matmul, .inputs = {0, 1}, .outputs = {2}, .base_cost = 100}},
                          {.capacity = 1000, .bandwidth = 10, .native_width = 128, .native_height = 128});
  const Groups groups(instance, loose);
  const OpId op = 0;
  EXPECT_FALSE(groups.of(std::span(&op, 1)).usable);  // all of K in one step, or all of the left operand
  const Instance roomy({{4096, 4096}, {4096, 4096}, {4096, 4096}},
                       {{.kind = OpKind::matmul, .inputs = {0, 1}, .outputs = {2}, .base_cost = 100}},
                       {.capacity = 100'000, .bandwidth = 10, .native_width = 128, .native_height = 128});
  const Groups more(roomy, loose);
  const Group& group = more.of(std::span(&op, 1));
  ASSERT_TRUE(group.usable);
  const Granularity g = more.best(group, 0, 0).granularity;
  EXPECT_LT(g.h, 4096 / 16);
  EXPECT_EQ(g.k, 4096);
}

// Groups that look alike share their prices, unless their ops read in other roles.
TEST(GridFusionopsCost, classes_tell_roles_apart) {
  const std::vector<Tensor> tensors(8, {.width = 4, .height = 4});
  const auto matmul = [](TensorId lhs, TensorId rhs, TensorId out) {
    return Op{.kind = OpKind::matmul, .inputs = {lhs, rhs}, .outputs = {out}, .base_cost = 3};
  };
  const auto pointwise = [](TensorId a, TensorId b, TensorId out) {
    return Op{.inputs = {a, b}, .outputs = {out}, .base_cost = 3};
  };
  const Instance instance(tensors,
                          {matmul(0, 1, 2), matmul(1, 0, 3), matmul(1, 1, 4), pointwise(2, 0, 5),
                           pointwise(2, 1, 6), pointwise(3, 1, 7)},
                          {.capacity = 40, .bandwidth = 1, .native_width = 4, .native_height = 4});
  const Groups groups(instance, loose);
  const auto look = [&](std::vector<OpId> ops) { return groups.of(ops).look; };
  EXPECT_EQ(look({0}), look({1}));
  EXPECT_NE(look({0}), look({2}));
  EXPECT_NE(look({0, 3}), look({0, 4}));  // the pointwise op reads the left or the right operand
  EXPECT_EQ(look({0, 3}), look({1, 5}));
}

}  // namespace
}  // namespace fuselage::grid

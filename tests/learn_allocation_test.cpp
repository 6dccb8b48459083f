// A guide asks a model in the innermost loop of a search: once its memory is there, scoring takes no more of
// it. Eigen allocates by malloc, so that is what is counted; sanitizers bring their own.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/learn/scorer.h"
#include "gradient_check.h"
#include "ranker_data.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" void* __libc_malloc(std::size_t size);

namespace {
thread_local bool counting = false;
thread_local int count = 0;
}  // namespace

extern "C" void* malloc(std::size_t size) noexcept {
  if (counting) ++count;
  return __libc_malloc(size);
}

namespace fuselage::learn {
namespace {

template <class Call>
int allocations(Call call) {
  count = 0;
  counting = true;
  call();
  counting = false;
  return count;
}

class LearnAllocation : public testing::TestWithParam<TransitionKind> {};

INSTANTIATE_TEST_SUITE_P(All, LearnAllocation,
                         testing::Values(TransitionKind::transh, TransitionKind::residual,
                                         TransitionKind::gru, TransitionKind::still),
                         [](const auto& made) { return std::string(transition_name(made.param)); });

TEST_P(LearnAllocation, NoneAfterTheFirstCall) {
  Parameters<float> parameters;
  search::SplitMix random(1);
  const Scorer<float> scorer(parameters, "scorer", {.transition = GetParam()}, random);
  std::vector<int> lengths(300, 5);
  std::vector<int> fewer = {1, 9, 2};
  Packing packing;
  ScorerScratch<float> scratch;
  ScorerPass<float> pass;
  Matrix<float> start = Matrix<float>::Zero(64, 300);
  Matrix<float> tokens = random_matrix(36, 1500, 1).cast<float>();
  Matrix<float> scores(1, 300);
  Matrix<float> last(64, 300);
  const auto score = [&](const std::vector<int>& of) {
    packing.assign(of);
    const ScorerBatch<float> batch{.packing = &packing,
                                   .start = start.leftCols(packing.sequences()),
                                   .tokens = tokens.leftCols(packing.tokens())};
    scorer.score(parameters, batch,
                 {.scores = scores.leftCols(packing.sequences()), .last = last.leftCols(packing.sequences())},
                 scratch);
    scorer.forward(parameters, batch, pass);
    scorer.backward(parameters, batch, pass);
  };
  EXPECT_GT(allocations([&] { score(lengths); }), 10) << "nothing is counted";
  score(fewer);
  EXPECT_EQ(allocations([&] { score(fewer); }), 0);
  EXPECT_EQ(allocations([&] { score(lengths); }), 0);
}

TEST(LearnAllocationOfTrees, NoneAfterTheFirstCall) {
  const RankerExample example = ranker_example(20, 10, 20);
  const FlatTrees trees(train_ranker(example.data(), {.rounds = 10}), "model");
  std::vector<float> scores(200);
  FlatTreesScratch scratch;
  const auto batch = [&](Index rows) {
    trees.score(example.rows.leftCols(rows), std::span(scores).first(static_cast<std::size_t>(rows)),
                scratch);
  };
  const auto one = [&] { scores[0] = trees.score(std::span(example.rows.data(), 20), scratch); };
  EXPECT_EQ(allocations(one), 1);
  EXPECT_EQ(allocations([&] { batch(200); }), 0);
  EXPECT_EQ(allocations([&] { batch(3); }), 0);
  EXPECT_EQ(allocations(one), 0);
}

}  // namespace
}  // namespace fuselage::learn

#endif

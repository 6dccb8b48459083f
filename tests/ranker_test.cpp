#include "fuselage/learn/ranker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "ranker_data.h"

namespace fuselage::learn {
namespace {

using testing::HasSubstr;

// Share of the pairs of a group with different labels whose scores are in their order.
double accuracy(const std::string& model, const RankerExample& example) {
  const FlatTrees trees(model, "model");
  std::vector<float> scores(example.labels.size());
  FlatTreesScratch scratch;
  trees.score(example.rows, scores, scratch);
  double right = 0;
  double pairs = 0;
  std::size_t begin = 0;
  for (const std::uint32_t size : example.groups) {
    for (std::size_t i = begin; i < begin + size; ++i)
      for (std::size_t j = begin; j < begin + size; ++j)
        if (example.labels[i] > example.labels[j]) {
          ++pairs;
          right += scores[i] > scores[j] ? 1 : 0;
        }
    begin += size;
  }
  return right / pairs;
}

TEST(Ranker, LearnsAnOrder) {
  const RankerExample example = ranker_example(6, 60, 30, 20);
  for (const RankObjective objective : {RankObjective::pairwise, RankObjective::ndcg}) {
    const RankerOptions options{.objective = objective, .rounds = 100, .eta = 0.3};
    EXPECT_GT(accuracy(train_ranker(example.data(), options), example), 0.9) << objective_name(objective);
  }
  RankerExample turned = example;
  for (float& label : turned.labels) label = 4 - label;
  EXPECT_LT(accuracy(train_ranker(turned.data(), {.rounds = 60}), example), 0.1);
}

TEST(Ranker, SameDataSameBytes) {
  const RankerExample example = ranker_example(10, 40, 25, 11);
  for (const int threads : {1, 2}) {
    const RankerOptions options{.objective = RankObjective::ndcg,
                                .rounds = 4,  // two threads spin where cores are busy
                                .row_share = 0.7,
                                .feature_share = 0.6,
                                .threads = threads,
                                .seed = 5};
    const std::string model = train_ranker(example.data(), options);
    EXPECT_EQ(model, train_ranker(example.data(), options)) << threads;
    EXPECT_EQ(FlatTrees(model, "model").notes().at("nthread"), std::to_string(threads));
  }
}

TEST(Ranker, OptionsCountAndAreNoted) {
  const RankerExample example = ranker_example(10, 20, 25, 11);
  const RankerOptions base{.rounds = 12, .row_share = 0.8};
  const auto trained = [&](auto change) {
    RankerOptions options = base;
    change(options);
    const std::string model = train_ranker(example.data(), options);
    // Attributes apart: what was learned has to differ, not just what is noted.
    return model.substr(model.find("\"gradient_booster\""));
  };
  const std::string plain = trained([](RankerOptions&) {});
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.objective = RankObjective::ndcg; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.rounds = 11; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.depth = 5; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.eta = 0.2; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.lambda = 2; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.min_hessian = 9; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.row_share = 0.7; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.feature_share = 0.5; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.bins = 16; }));
  EXPECT_NE(plain, trained([](RankerOptions& o) { o.seed = 1; }));
  const FlatTrees trees(train_ranker(example.data(), {.rounds = 2, .eta = 0.3, .seed = 77}), "model");
  const std::map<std::string, std::string> expected = {{"objective", "rank:pairwise"},
                                                       {"tree_method", "hist"},
                                                       {"max_depth", "6"},
                                                       {"eta", "0.3"},
                                                       {"lambda", "1.0"},
                                                       {"min_child_weight", "1.0"},
                                                       {"subsample", "1.0"},
                                                       {"colsample_bytree", "1.0"},
                                                       {"max_bin", "256"},
                                                       {"nthread", "1"},
                                                       {"seed", "77"}};
  EXPECT_EQ(trees.notes(), expected);
}

TEST(Ranker, TakesConstantAndMissingFeaturesAndGroupsOfOne) {
  RankerExample example = ranker_example(6, 60, 30);
  example.rows.row(4).setConstant(3);
  example.rows.row(5).setConstant(std::numeric_limits<float>::quiet_NaN());
  example.groups.insert(example.groups.begin() + 1, {1, 29});
  example.groups.erase(example.groups.begin() + 3);
  EXPECT_GT(accuracy(train_ranker(example.data(), {.rounds = 60}), example), 0.9);
}

// Nothing tells the rows apart: all trees are single leaves, and no row is better than another.
TEST(Ranker, FeaturesThatAreAllConstantGiveTies) {
  RankerExample example = ranker_example(3, 10, 10);
  example.rows.setConstant(2);
  EXPECT_EQ(accuracy(train_ranker(example.data(), {.rounds = 5}), example), 0);
}

TEST(Ranker, ColumnsMayLieApart) {
  const RankerExample example = ranker_example(5, 20, 20, 8);
  Matrix<float> wide = Matrix<float>::Constant(9, example.rows.cols(), 100);
  wide.middleRows(2, 5) = example.rows;
  const RankerData apart{.rows = wide.middleRows(2, 5), .labels = example.labels, .groups = example.groups};
  EXPECT_EQ(train_ranker(apart, {.rounds = 5}), train_ranker(example.data(), {.rounds = 5}));
}

std::string refused(const RankerExample& example, const RankerOptions& options = {}) {
  return error_of([&] { train_ranker(example.data(), options); });
}

TEST(Ranker, RefusesLabels) {
  const RankerOptions ndcg{.objective = RankObjective::ndcg, .rounds = 1};
  const RankerExample good = ranker_example(3, 4, 5);
  for (const float label : {32.0F, -1.0F, 1.5F}) {
    RankerExample example = good;
    example.labels[7] = label;
    EXPECT_EQ(refused(example, ndcg), fmt::format("labels[7]: {} is no level of relevance; expected an "
                                                  "integer from 0 to 31 for rank:ndcg",
                                                  label));
    EXPECT_EQ(refused(example, {.rounds = 1}), "no error");
  }
  RankerExample example = good;
  example.labels[0] = 31;
  EXPECT_EQ(refused(example, ndcg), "no error");
  for (const float label :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    example.labels[0] = label;
    EXPECT_EQ(refused(example), fmt::format("labels[0]: {} is not finite; expected a number", label));
  }
  example.labels.pop_back();
  EXPECT_EQ(refused(example), "labels: there are 19; expected 20, one a row");
}

TEST(Ranker, RefusesGroups) {
  RankerExample example = ranker_example(3, 4, 5);
  const auto with = [&](std::vector<std::uint32_t> groups) {
    example.groups = std::move(groups);
    return refused(example);
  };
  EXPECT_EQ(with({}), "groups: there are none; expected the sizes of the groups, 20 in all");
  EXPECT_EQ(with({5, 0, 15}), "groups[1]: 0 is an empty group; expected at least 1 row");
  EXPECT_EQ(with({5, 14}), "groups: the sizes of 2 groups add up to 19; expected 20, the number of rows");
  EXPECT_EQ(with({5, 16}), "groups[1]: ends after 21 rows, and there are 20; expected sizes whose sum is 20");
  EXPECT_THAT(with({5, 4294967295U, 12}), HasSubstr("groups[1]: ends after 4294967300 rows"));
  EXPECT_EQ(with(std::vector<std::uint32_t>(20, 1)),
            "groups: none of 20 has two rows with different labels; expected something to rank");
  example.labels.assign(20, 3);
  EXPECT_THAT(with({10, 10}), HasSubstr("none of 2 has two rows with different labels"));
}

TEST(Ranker, RefusesRows) {
  RankerExample example = ranker_example(3, 4, 5);
  for (const float value :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 2e37F}) {
    example.rows(2, 9) = value;
    EXPECT_EQ(refused(example),
              fmt::format("rows[9][2]: {} is out of range; expected a number of magnitude at "
                          "most 1e+37, or NaN for a missing one",
                          value));
  }
  example.rows(2, 9) = -1e37F;
  EXPECT_EQ(refused(example, {.rounds = 3}), "no error");
  example.rows(2, 9) = 1e37F;
  EXPECT_EQ(refused(example, {.rounds = 3}), "no error");
  EXPECT_EQ(FlatTrees(train_ranker(example.data(), {.rounds = 3}), "model").trees(), 3U);
  EXPECT_EQ(refused({}), "rows: there are none; expected at least two");
  example.rows.resize(0, 20);
  EXPECT_EQ(refused(example), "rows: 0 features; expected 1 to 32767");
}

TEST(Ranker, RefusesOptions) {
  const RankerExample example = ranker_example(3, 4, 5);
  EXPECT_EQ(refused(example, {.rounds = 0}), "options.rounds: 0 is out of range; expected 1 to 10000");
  EXPECT_EQ(refused(example, {.depth = 13}), "options.depth: 13 is out of range; expected 1 to 12");
  EXPECT_EQ(refused(example, {.rounds = 4097, .depth = 12}),
            "options.rounds: 4097 trees of depth 12 have 16781312 nodes; expected at most 16777216");
  EXPECT_THAT(refused(example, {.eta = 0}), HasSubstr("options.eta: 0 is out of range"));
  EXPECT_THAT(refused(example, {.eta = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("options.eta: nan"));
  EXPECT_THAT(refused(example, {.lambda = -1}), HasSubstr("options.lambda: -1"));
  EXPECT_THAT(refused(example, {.min_hessian = -1}), HasSubstr("options.min_hessian: -1"));
  EXPECT_THAT(refused(example, {.row_share = 1.1}), HasSubstr("options.row_share: 1.1"));
  EXPECT_THAT(refused(example, {.feature_share = 0}), HasSubstr("options.feature_share: 0"));
  EXPECT_THAT(refused(example, {.bins = 1}), HasSubstr("options.bins: 1"));
  EXPECT_THAT(refused(example, {.threads = 0}), HasSubstr("options.threads: 0"));
  EXPECT_THAT(refused(example, {.seed = -1}), HasSubstr("options.seed: -1"));
}

TEST(Ranker, AFileIsWrittenWholeOrNotAtAll) {
  const auto directory = std::filesystem::temp_directory_path() / "fuselage-ranker-test";
  std::filesystem::remove_all(directory);
  const std::string path = (directory / "ranker.json").string();
  const std::string model = train_ranker(ranker_example(3, 4, 5).data(), {.rounds = 3});
  save_ranker(path, model);
  EXPECT_EQ(read_file(path), model);
  EXPECT_EQ(read_flat_trees(path).trees(), 3U);
  EXPECT_THAT(error_of([&] { save_ranker(path, model.substr(0, 100)); }), HasSubstr("ranker.json: "));
  EXPECT_EQ(read_file(path), model);
  std::filesystem::remove_all(directory);
  EXPECT_THAT(error_of([&] { read_flat_trees(path); }), HasSubstr("ranker.json: cannot be opened"));
}

}  // namespace
}  // namespace fuselage::learn

#include "fuselage/learn/flat_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "booster.h"
#include "error_of.h"
#include "ranker_data.h"

namespace fuselage::learn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// x1 < 0.5 ? (x0 < -1 ? 1 : 2) : 4, missing x1 goes right and missing x0 left; then a leaf of 0.25.
json example() {
  return json::parse(R"({"version": [1, 7, 4], "learner": {
    "attributes": {"threads": "2"}, "objective": {"name": "rank:pairwise"},
    "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "2", "num_target": "1"},
    "gradient_booster": {"name": "gbtree", "model": {
      "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "2", "size_leaf_vector": "0"},
      "tree_info": [0, 0], "trees": [
        {"left_children": [1, 3, -1, -1, -1], "right_children": [2, 4, -1, -1, -1],
         "split_indices": [1, 0, 0, 0, 0], "split_conditions": [0.5, -1, 4, 1, 2],
         "default_left": [0, 1, 0, 0, 0], "split_type": [0, 0, 0, 0, 0],
         "tree_param": {"num_nodes": "5", "num_deleted": "0", "num_feature": "2"}},
        {"left_children": [-1], "right_children": [-1], "split_indices": [0], "split_conditions": [0.25],
         "default_left": [0], "split_type": [0], "tree_param": {"num_nodes": "1"}}]}}}})");
}

const json::json_pointer first_tree("/learner/gradient_booster/model/trees/0");

// The example with one value changed, by its path.
std::string with(const std::string& path, const json& value) {
  json model = example();
  model[json::json_pointer(path)] = value;
  return model.dump();
}
std::string with_tree(const std::string& field, const json& value) {
  return with(first_tree.to_string() + "/" + field, value);
}
std::string refusal(const std::string& text) {
  return error_of([&] { FlatTrees(text, "m.json"); });
}

float score_of(const FlatTrees& trees, float a, float b) {
  FlatTreesScratch scratch;
  const std::vector<float> row = {a, b};
  const float one = trees.score(row, scratch);
  float batch = 0;
  trees.score(Eigen::Map<const Matrix<float>>(row.data(), 2, 1), {&batch, 1}, scratch);
  EXPECT_EQ(one, batch);
  return one;
}

TEST(FlatTrees, FollowsThresholdsAndDefaults) {
  const FlatTrees trees(example().dump(), "m.json");
  EXPECT_EQ(trees.features(), 2);
  EXPECT_EQ(trees.trees(), 2U);
  EXPECT_EQ(trees.depth(), 2);
  EXPECT_EQ(trees.base_score(), 0.5F);
  EXPECT_EQ(trees.notes().at("threads"), "2");
  EXPECT_EQ(score_of(trees, 0, 0.5F), 4.75F);  // not below
  EXPECT_EQ(score_of(trees, -1, 0.4F), 2.75F);
  EXPECT_EQ(score_of(trees, -1.1F, 0.4F), 1.75F);
  EXPECT_EQ(score_of(trees, missing, 0.4F), 1.75F);
  EXPECT_EQ(score_of(trees, -1.1F, missing), 4.75F);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(score_of(trees, infinity, -infinity), 2.75F);
  EXPECT_EQ(score_of(trees, -infinity, -infinity), 1.75F);
}

TEST(FlatTrees, WithoutTreesTheScoreIsTheBase) {
  json model = example();
  auto& booster = model["learner"]["gradient_booster"]["model"];
  booster["trees"] = json::array();
  booster["tree_info"] = json::array();
  booster["gbtree_model_param"]["num_trees"] = "0";
  EXPECT_EQ(score_of(FlatTrees(model.dump(), "m.json"), 1, 1), 0.5F);
}

// Its shortest text is, as a double, the middle between it and the float after it.
TEST(FlatTrees, TheOneFloatThatADoubleRoundsAway) {
  json model = example();
  model["learner"]["learner_model_param"]["base_score"] = "0E0";
  auto& trees = model["learner"]["gradient_booster"]["model"]["trees"];
  trees[1]["split_conditions"] = {0};
  for (const float leaf : {7.038531e-26F, -7.038531e-26F, 1e-45F, 3.4028235e38F, 0.1F}) {
    trees[0]["split_conditions"][2] = json::parse(fmt::format("{}", leaf));
    EXPECT_EQ(score_of(FlatTrees(model.dump(), "m.json"), 0, 1), leaf);
  }
  EXPECT_NE(static_cast<float>(7.038531e-26), 7.038531e-26F);
}

struct Shape {
  RankObjective objective;
  int rounds;
  int depth;
  Index features;
};

class FlatTreesEqual : public testing::TestWithParam<Shape> {};

INSTANTIATE_TEST_SUITE_P(
    Shapes, FlatTreesEqual,
    testing::Values(Shape{RankObjective::pairwise, 100, 6, 40}, Shape{RankObjective::ndcg, 50, 6, 40},
                    Shape{RankObjective::pairwise, 9, 1, 3}, Shape{RankObjective::ndcg, 7, 2, 1},
                    Shape{RankObjective::pairwise, 8, 3, 9}, Shape{RankObjective::pairwise, 21, 12, 11},
                    Shape{RankObjective::ndcg, 1, 5, 6}),
    [](const auto& made) { return fmt::format("rounds{}depth{}", made.param.rounds, made.param.depth); });

TEST_P(FlatTreesEqual, EveryBitOfXgboost) {
  const auto [objective, rounds, depth, features] = GetParam();
  const RankerExample example = ranker_example(features, 64, 32, 7);
  const std::string model = train_ranker(
      example.data(), {.objective = objective, .rounds = rounds, .depth = depth, .min_hessian = 0.01});
  const FlatTrees trees(model, "model");
  ASSERT_EQ(trees.trees(), static_cast<std::size_t>(rounds));
  EXPECT_EQ(trees.depth(), depth);
  constexpr Index n = 4103;
  Matrix<float> rows = random_features(features, n, 2, 5);
  rows.leftCols(50).array() *= 1e30F;
  rows.col(0).setConstant(missing);
  // Values that are thresholds.
  rows.middleCols(100, 1000) = example.rows.leftCols(1000);
  Booster booster(model);
  const float* expected = booster.score(Booster::describe(rows));
  std::vector<float> scores(n, missing);
  FlatTreesScratch scratch;
  trees.score(rows, scores, scratch);
  int differing = 0;
  int distinct = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const float one = trees.score(
        std::span(rows.col(static_cast<Index>(i)).data(), static_cast<std::size_t>(features)), scratch);
    differing += std::bit_cast<std::uint32_t>(scores[i]) != std::bit_cast<std::uint32_t>(expected[i]);
    differing += std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(expected[i]);
    distinct += expected[i] != expected[0];
  }
  EXPECT_EQ(differing, 0);
  EXPECT_GT(distinct, 500);
}

TEST(FlatTrees, ARowsScoreIsTheSameInAnyBatch) {
  const RankerExample example = ranker_example(12, 16, 16, 9);
  const FlatTrees trees(train_ranker(example.data(), {.rounds = 11}), "model");
  const Matrix<float> rows = random_features(20, 40, 3, 9);
  const auto part = rows.middleRows(4, 12);  // columns that do not lie end to end
  FlatTreesScratch scratch;
  std::vector<float> all(40);
  trees.score(part, all, scratch);
  for (Index count = 0; count <= 19; ++count) {
    std::vector<float> some(static_cast<std::size_t>(count), missing);
    trees.score(part.middleCols(5, count), some, scratch);
    for (Index i = 0; i < count; ++i)
      EXPECT_EQ(some[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(5 + i)]) << count;
  }
}

TEST(FlatTrees, RefusesTruncatedText) {
  const std::string text = example().dump();
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_THAT(refusal(text.substr(0, size)), HasSubstr("m.json: ")) << size;
  EXPECT_EQ(refusal(text), "no error");
}

TEST(FlatTrees, RefusesWhatIsNoTree) {
  EXPECT_EQ(refusal(with_tree("left_children/1", 0)),
            "m.json: learner.gradient_booster.model.trees[0]: node 0 is the child of two nodes or of itself; "
            "expected a tree");
  EXPECT_THAT(refusal(with_tree("left_children/1", 1)),
              HasSubstr("node 1 is the child of two nodes or of itself"));
  EXPECT_THAT(refusal(with_tree("left_children/1", 2)), HasSubstr("node 2 is the child of two nodes"));
  EXPECT_THAT(refusal(with_tree("right_children/1", 3)), HasSubstr("node 3 is the child of two nodes"));
  EXPECT_THAT(refusal(with_tree("left_children/1", 5)),
              HasSubstr("trees[0].left_children[1]: 5 is out of range; expected an integer from -1 to 4"));
  EXPECT_THAT(refusal(with_tree("right_children/0", 4294967298)), HasSubstr("right_children[0]: 4294967298"));
  EXPECT_THAT(refusal(with_tree("left_children/0", -2)), HasSubstr("left_children[0]: -2"));
  EXPECT_THAT(refusal(with_tree("left_children/0", 0.5)), HasSubstr("left_children[0]: 0.5"));
  EXPECT_THAT(refusal(with_tree("right_children/1", -1)),
              HasSubstr("trees[0].right_children[1]: -1 and the left child do not fit"));
  EXPECT_THAT(refusal(with_tree("left_children", json::array())),
              HasSubstr("right_children: [2, 4, -1, -1, -1] has 5 entries; expected 0"));
  EXPECT_THAT(refusal(with_tree("left_children", 3)), HasSubstr("left_children: 3"));
  EXPECT_THAT(refusal(with_tree("default_left", json::array({0, 1}))),
              HasSubstr("has 2 entries; expected 5"));
  EXPECT_THAT(refusal(with_tree("tree_param/num_nodes", "6")),
              HasSubstr("num_nodes: \"6\" differs from the nodes that are there; expected 5"));
  EXPECT_THAT(refusal(with_tree("tree_param/num_nodes", "99999999999999999999")),
              HasSubstr("is out of range"));
  EXPECT_THAT(refusal(with_tree("tree_param/num_nodes", 5)), HasSubstr("num_nodes: 5"));
}

TEST(FlatTrees, RefusesNumbersThatAreNone) {
  EXPECT_THAT(refusal(with_tree("split_indices/0", 2)),
              HasSubstr("split_indices[0]: 2 is out of range; expected an integer from 0 to 1"));
  EXPECT_THAT(refusal(with_tree("split_indices/1", -1)), HasSubstr("split_indices[1]: -1"));
  EXPECT_THAT(refusal(with_tree("split_conditions/0", nullptr)), HasSubstr("split_conditions[0]"));
  EXPECT_THAT(refusal(with_tree("split_conditions/3", 1e39)),
              HasSubstr("split_conditions[3]: 1e+39 is out of range"));
  for (const char* number : {"NaN", "Infinity", "-Infinity", "nan", "1e999"}) {
    std::string text = example().dump();
    const std::string from = "\"split_conditions\":[0.5";
    text.replace(text.find(from), from.size(), std::string("\"split_conditions\":[") + number);
    EXPECT_THAT(refusal(text), HasSubstr("m.json: ")) << number;
  }
  EXPECT_THAT(refusal(with_tree("default_left/0", 2)), HasSubstr("default_left[0]: 2"));
  EXPECT_THAT(refusal(with_tree("split_type/0", 1)), HasSubstr("split_type[0]: 1 is a categorical split"));
}

TEST(FlatTrees, RefusesOtherModels) {
  EXPECT_EQ(refusal(with("/version", {2, 0, 3})),
            "m.json: version: [2, 0, 3] is not supported; expected a model of XGBoost 1.7");
  EXPECT_THAT(refusal(with("/learner/objective/name", "binary:logistic")),
              HasSubstr("\"binary:logistic\" is not supported"));
  EXPECT_THAT(refusal(with("/learner/gradient_booster/name", "dart")),
              HasSubstr("name: \"dart\" is not supported"));
  EXPECT_THAT(refusal(with("/learner/learner_model_param/num_class", "3")), HasSubstr("num_class: \"3\""));
  EXPECT_THAT(refusal(with("/learner/learner_model_param/num_target", "2")), HasSubstr("num_target: \"2\""));
  for (const char* count : {"0", "-1", "32768", "18446744073709551617", "2x", "", " 2"})
    EXPECT_THAT(refusal(with("/learner/learner_model_param/num_feature", count)),
                HasSubstr("is out of range; expected a text with a number from 1 to 32767"))
        << count;
  for (const char* score : {"nan", "inf", "1E39", "x", ""})
    EXPECT_THAT(refusal(with("/learner/learner_model_param/base_score", score)), HasSubstr("base_score: "))
        << score;
  const std::string model = "/learner/gradient_booster/model";
  EXPECT_THAT(refusal(with(model + "/gbtree_model_param/num_trees", "1000000000")),
              HasSubstr("num_trees: \"1000000000\" differs from the trees that are there; expected 2"));
  EXPECT_THAT(refusal(with(model + "/gbtree_model_param/size_leaf_vector", "2")),
              HasSubstr("size_leaf_vector"));
  EXPECT_THAT(refusal(with(model + "/tree_info/1", 1)), HasSubstr("tree_info[1]: 1"));
  EXPECT_THAT(refusal(with(model + "/tree_info", json::array({0}))),
              HasSubstr("expected 2 entries, one a tree"));
  EXPECT_THAT(refusal(with("/learner/attributes", 3)), HasSubstr("attributes: 3"));
  EXPECT_THAT(refusal(with("/learner/attributes/threads", 3)), HasSubstr("attributes.threads: 3"));
  json none = example();
  none["learner"].erase("gradient_booster");
  EXPECT_THAT(refusal(none.dump()), HasSubstr("gradient_booster"));
  EXPECT_THAT(refusal("[]"), HasSubstr("m.json"));
}

// A chain of `depth` splits, each of whose left children is a leaf.
json chain(int depth) {
  json tree = {{"left_children", json::array()}, {"right_children", json::array()}};
  const int nodes = 2 * depth + 1;
  for (int i = 0; i < nodes; ++i) {
    const bool splits = i % 2 == 0 && i + 1 < nodes;
    tree["left_children"].push_back(splits ? i + 1 : -1);
    tree["right_children"].push_back(splits ? i + 2 : -1);
  }
  for (const char* field : {"split_indices", "split_conditions", "default_left", "split_type"})
    tree[field] = json(static_cast<std::size_t>(nodes), 0);
  tree["tree_param"] = {{"num_nodes", std::to_string(nodes)}};
  return tree;
}

std::string chains(int depth, std::size_t count) {
  json model = example();
  auto& booster = model["learner"]["gradient_booster"]["model"];
  booster["trees"] = json(count, chain(depth));
  booster["tree_info"] = json(count, 0);
  booster["gbtree_model_param"]["num_trees"] = std::to_string(count);
  return model.dump();
}

TEST(FlatTrees, RefusesMoreThanItsLimits) {
  EXPECT_EQ(refusal(chains(max_tree_depth, 1)), "no error");
  EXPECT_THAT(refusal(chains(max_tree_depth + 1, 1)),
              HasSubstr("lies deeper than 12; expected no deeper tree"));
  EXPECT_THAT(refusal(chains(5000, 1)), HasSubstr("lies deeper than 12"));
  EXPECT_THAT(
      refusal(chains(max_tree_depth, 4097)),
      AllOf(HasSubstr("4097 trees of depth 12"), HasSubstr("expected at most 16777216 padded nodes in all")));
}

}  // namespace
}  // namespace fuselage::learn

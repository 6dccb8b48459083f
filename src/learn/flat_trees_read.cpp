// FlatTrees from the JSON that XGBoost saves; the format is described in its doc/model.schema.
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/flat_trees.h"

namespace fuselage::learn {
namespace {

constexpr float max_float = std::numeric_limits<float>::max();

// XGBoost writes parameters as texts: "12", "5E-1".
template <class T>
T number_of(const JsonField& field, T min, T max) {
  const std::string& text = field.string();
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max))
    field.refuse("is out of range", fmt::format("a text with a number from {} to {}", min, max));
  return value;
}

void expect_text(const JsonField& field, std::string_view expected) {
  if (field.string() != expected) field.refuse("is not supported", quote(expected));
}

void expect_version(const JsonField& version) {
  if (version.array_size() != 3 || version.element(0).integer(0) != 1 || version.element(1).integer(0) != 7)
    version.refuse("is not supported", "a model of XGBoost 1.7");
}

constexpr std::int64_t max_count = std::numeric_limits<std::int32_t>::max();

// What the model says of its trees, against what is there.
void expect_counts(const JsonField& model, std::size_t trees) {
  const JsonField counts = model.required("gbtree_model_param");
  const JsonField stated = counts.required("num_trees");
  expect_text(counts.required("size_leaf_vector"), "0");
  if (number_of<std::int64_t>(stated, 0, max_count) != static_cast<std::int64_t>(trees))
    stated.refuse("differs from the trees that are there", std::to_string(trees));
  const JsonField classes = model.required("tree_info");
  if (classes.array_size() != trees)
    classes.refuse("has another length", fmt::format("{} entries, one a tree", trees));
  for (std::size_t i = 0; i < trees; ++i) classes.element(i).integer(0, 0);
}

// XGBoost writes the shortest text that gives the float back. Read as a double first, the text
// of 7.0385307e-26 lies in the middle between two floats (the only one of all that does), where rounding
// could choose the other.
float float_of(const JsonField& field) {
  constexpr double largest = 3.4028235e38;  // the shortest text of the largest float
  const double value = field.number(-largest, largest);
  const float nearest = static_cast<float>(value);
  const double other = 2 * value - static_cast<double>(nearest);
  if (other == value || static_cast<double>(static_cast<float>(other)) != other) return nearest;
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), nearest, std::chars_format::scientific);
  double again = 0;
  std::from_chars(text.data(), end, again);
  return again == value ? nearest : static_cast<float>(other);
}

struct RawNode {
  std::int64_t left = -1;  // −1 in both: a leaf
  std::int64_t right = -1;
  std::int64_t feature = 0;
  float value = 0;  // threshold, or the leaf's value
  bool default_left = false;
};

struct RawTree {
  std::vector<RawNode> nodes;
  std::string path;
};

RawTree read_tree(const JsonField& tree, Index features) {
  const JsonField left = tree.required("left_children");
  const JsonField right = tree.required("right_children");
  const JsonField feature = tree.required("split_indices");
  const JsonField value = tree.required("split_conditions");
  const JsonField missing = tree.required("default_left");
  const JsonField type = tree.required("split_type");
  const std::size_t count = left.array_size();
  for (const JsonField* field : {&right, &feature, &value, &missing, &type})
    if (field->array_size() != count)
      field->refuse(fmt::format("has {} entries", field->array_size()),
                    fmt::format("{}, as left_children", count));
  const JsonField parameters = tree.required("tree_param");
  const JsonField stated = parameters.required("num_nodes");
  if (number_of<std::int64_t>(stated, 1, max_count) != static_cast<std::int64_t>(count))
    stated.refuse("differs from the nodes that are there", std::to_string(count));
  RawTree result{.nodes = std::vector<RawNode>(count), .path = tree.path()};
  const auto last = static_cast<std::int64_t>(count) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    RawNode& node = result.nodes[i];
    node.left = left.element(i).integer(-1, last);
    node.right = right.element(i).integer(-1, last);
    if ((node.left < 0) != (node.right < 0))
      right.element(i).refuse("and the left child do not fit", "two children, or -1 in both for a leaf");
    node.value = float_of(value.element(i));
    if (node.left >= 0) node.feature = feature.element(i).integer(0, features - 1);
    node.default_left = missing.element(i).integer(0, 1) != 0;
    if (type.element(i).integer(0, 1) != 0)
      type.element(i).refuse("is a categorical split", "0, a numerical one");
  }
  return result;
}

// Steps from the root to the deepest leaf. Error unless what can be reached is a tree.
int depth_of(const RawTree& tree, const std::string& source) {
  struct Open {
    std::int64_t node;
    int depth;
  };
  std::vector<Open> open = {{0, 0}};
  std::vector<bool> met(tree.nodes.size(), false);
  int deepest = 0;
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    if (met[static_cast<std::size_t>(at.node)])
      fail("{}: {}: node {} is the child of two nodes or of itself; expected a tree", source, tree.path,
           at.node);
    met[static_cast<std::size_t>(at.node)] = true;
    if (at.depth > max_tree_depth)
      fail("{}: {}: node {} lies deeper than {}; expected no deeper tree", source, tree.path, at.node,
           max_tree_depth);
    deepest = std::max(deepest, at.depth);
    const RawNode& node = tree.nodes[static_cast<std::size_t>(at.node)];
    if (node.left < 0) continue;
    open.push_back({node.right, at.depth + 1});
    open.push_back({node.left, at.depth + 1});
  }
  return deepest;
}

}  // namespace

FlatTrees::FlatTrees(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.max_depth = 12, .object_only = true});
  const JsonField root(json, source);
  expect_version(root.required("version"));
  const JsonField learner = root.required("learner");
  read_learner(learner);
  const JsonField booster = learner.required("gradient_booster");
  expect_text(booster.required("name"), "gbtree");
  const JsonField model = booster.required("model");
  const JsonField trees = model.required("trees");
  expect_counts(model, trees.array_size());
  read_trees(trees);
}

void FlatTrees::read_learner(const JsonField& learner) {
  const JsonField objective = learner.required("objective");
  const JsonField name = objective.required("name");
  if (name.string() != "rank:pairwise" && name.string() != "rank:ndcg")
    name.refuse("is not supported", "\"rank:pairwise\" or \"rank:ndcg\"");
  const JsonField parameters = learner.required("learner_model_param");
  base_score_ = number_of(parameters.required("base_score"), -max_float, max_float);
  features_ = number_of<std::int64_t>(parameters.required("num_feature"), 1, max_tree_features);
  expect_text(parameters.required("num_class"), "0");
  expect_text(parameters.required("num_target"), "1");
  const auto attributes = learner.optional("attributes");
  if (!attributes) return;
  if (!attributes->value().is_object()) attributes->refuse("is no object", "names with texts");
  for (const auto& [key, value] : attributes->value().items())
    notes_[key] = attributes->required(key).string();
}

void FlatTrees::read_trees(const JsonField& field) {
  std::vector<RawTree> trees;
  for (std::size_t i = 0; i < field.array_size(); ++i) {
    trees.push_back(read_tree(field.element(i), features_));
    depth_ = std::max(depth_, depth_of(trees.back(), field.source()));
  }
  const std::size_t ends = std::size_t{1} << depth_;
  if (trees.size() > max_padded_nodes / ends)
    field.refuse(
        fmt::format("{} trees of depth {} take {} padded nodes each; expected at most {} padded nodes in all",
                    trees.size(), depth_, ends, max_padded_nodes));
  trees_ = trees.size();
  nodes_.assign(trees_ * ends, Node{0, 0});
  leaves_.resize(trees_ * ends);
  for (std::size_t t = 0; t < trees_; ++t) {
    // By place of the complete tree, the node that is there or the leaf that ended above.
    std::vector<std::int64_t> at(2 * ends, 0);
    for (std::size_t place = 1; place < 2 * ends; ++place) {
      const RawNode& node = trees[t].nodes[static_cast<std::size_t>(at[place])];
      if (place >= ends) {
        leaves_[t * ends + place - ends] = node.value;
        continue;
      }
      const bool is_leaf = node.left < 0;
      at[2 * place] = is_leaf ? at[place] : node.right;
      at[2 * place + 1] = is_leaf ? at[place] : node.left;
      if (is_leaf) continue;  // either way ends at its value
      const auto column = static_cast<std::uint32_t>(2 * node.feature + (node.default_left ? 0 : 1));
      nodes_[t * ends + place] = {node.value, column};
    }
  }
}

FlatTrees read_flat_trees(const std::string& path) {
  return FlatTrees(read_file(path), source_name(path));
}

}  // namespace fuselage::learn

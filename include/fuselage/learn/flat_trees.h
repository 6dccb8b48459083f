// Inference of a trained ranker: the trees of an XGBoost JSON file as padded flat arrays. Every tree becomes
// a complete one of the model's depth (below an early leaf all ends carry its value), so that the way down is
// a fixed number of steps without branches, child = 2·node or 2·node + 1, and rows or trees side by side keep
// the processor busy. XGBoost's own call costs microseconds before it looks at the first row, and a search
// asks for one row at a time.
//
// Scores equal XGBoost's bit for bit: each is base_score plus the leaves of the trees in their order, in
// float (T. Chen, C. Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016; default directions of
// missing values: section 3.4 there). Files come from anywhere, so nothing in one is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/json.h"
#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

// What a model may have at most; also what train_ranker grants.
inline constexpr int max_tree_depth = 12;
inline constexpr Index max_tree_features = 32'767;
inline constexpr std::size_t max_padded_nodes = std::size_t{1} << 24;  // of all trees: 192 MiB

// Memory for scoring; of one thread. It doesn't grow after the first call.
class FlatTreesScratch {
  friend class FlatTrees;
  std::vector<float> columns_;
};

class FlatTrees {
 public:
  // The text of a model saved by XGBoost 1.7 as JSON: booster gbtree, numerical splits, objective
  // rank:pairwise or rank:ndcg (whose scores are the plain sums). Error with `source`, field, value and what
  // would be right for anything else: truncated text, children that are no tree, features out of range,
  // numbers that no float holds, more than the limits above.
  FlatTrees(std::string_view json, const std::string& source);

  Index features() const { return features_; }
  std::size_t trees() const { return trees_; }
  int depth() const { return depth_; }  // of the deepest tree; a single leaf has 0
  float base_score() const { return base_score_; }
  // The attributes of the file: what its maker noted about the training, say {"threads", "2"}.
  const std::map<std::string, std::string>& notes() const { return notes_; }

  // rows [features x n], one column a row of the data set; scores [n]. A NaN is a missing value, infinities
  // are numbers. A row's score is the same whatever stands beside it. Asserts that the sizes fit.
  void score(const ConstView<float>& rows, std::span<float> scores, FlatTreesScratch& scratch) const;
  // The same of one row [features], faster.
  float score(std::span<const float> row, FlatTreesScratch& scratch) const;

 private:
  // Values below the threshold go left. Each feature has two columns, the even one holds a missing value as
  // −∞ and the odd one as +∞, so that the default direction takes no test of its own.
  struct Node {
    float threshold;
    std::uint32_t column;
  };
  void read_learner(const JsonField& learner);
  void read_trees(const JsonField& trees);
  template <int depth>
  void score_block(const float* columns, float* scores) const;
  template <int depth>
  float score_row(const float* columns) const;

  Index features_ = 0;
  std::size_t trees_ = 0;
  int depth_ = 0;
  float base_score_ = 0;
  std::map<std::string, std::string> notes_;
  // Of each tree 2^depth: the root is 1, the right child of p is 2p, the left one 2p + 1; 0 is not used.
  std::vector<Node> nodes_;
  std::vector<float> leaves_;  // of each tree 2^depth, those of the places 2^depth … 2^(depth + 1) − 1
};

FlatTrees read_flat_trees(const std::string& path);

}  // namespace fuselage::learn

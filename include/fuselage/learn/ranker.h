// Training of a ranker: gradient-boosted trees that learn the order of candidates within groups, by the
// LambdaMART objectives of XGBoost 1.7 (C. Burges, "From RankNet to LambdaRank to LambdaMART",
// MSR-TR-2010-82; T. Chen, C. Guestrin, "XGBoost", KDD 2016). A group is one workload, if whole schedules are
// ranked, or one state, if its decisions are; scores of different groups are not comparable. The rows are
// whatever numbers the caller has. Scoring is the business of flat_trees.h.
//
// XGBoost takes wrong labels and sizes silently or late, so that everything is checked before it sees any.
// Its threads spin while they wait and slow down each other and everybody else where there are more of them
// than free cores (a round took 50 times as long): the number is pinned, one unless asked for, and a program
// that trains with several on a shared machine should be run with OMP_WAIT_POLICY=passive. The number of
// threads changes the order of sums and so the model; it is noted in the model's attributes as are the seed
// and the other options. The same data, options and threads give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fuselage/learn/flat_trees.h"
#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

enum class RankObjective { pairwise, ndcg };
std::string_view objective_name(RankObjective objective);  // "rank:pairwise", "rank:ndcg"

struct RankerOptions {
  RankObjective objective = RankObjective::pairwise;
  int rounds = 100;          // trees; 1 … 10,000
  int depth = 6;             // of a tree; 1 … max_tree_depth
  double eta = 0.1;          // learning rate; (0, 1]
  double lambda = 1;         // L2 penalty of the leaves; >= 0
  double min_hessian = 1;    // a leaf's weight at least ("min_child_weight"); >= 0
  double row_share = 1;      // of the rows that a tree is grown from ("subsample"); (0, 1]
  double feature_share = 1;  // of the features that a tree may use ("colsample_bytree"); (0, 1]
  int bins = 256;            // of a feature's values; 2 … 65,536
  int threads = 1;           // 1 … 1,024
  std::int64_t seed = 0;     // 0 … 2³¹ − 1
};

struct RankerData {
  // [features x n], one column a row of the data set. NaN is a missing value, which each split sends the way
  // that suits it; other numbers are at most 10³⁷ in magnitude. A feature may be the same in all rows.
  ConstView<float> rows;
  // [n], higher is better. rank:pairwise takes any finite numbers and looks at their order only; rank:ndcg
  // takes integers from 0 to 31, since its gains are 2^label − 1.
  std::span<const float> labels;
  // Rows of each group, which lie one behind the other; all at least 1, the sum n. At least one group must
  // have rows with different labels, or there is nothing to learn.
  std::span<const std::uint32_t> groups;
};

// The model as XGBoost's JSON, which it and FlatTrees read. Error with field, value and what would be right
// for any data or option that is not as said above.
std::string train_ranker(const RankerData& data, const RankerOptions& options = {});

// Written to a temporary name and renamed. Error, and nothing written, if the text is no model.
void save_ranker(const std::string& path, std::string_view model);

}  // namespace fuselage::learn

#include "fuselage/learn/ranker.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "xgboost.h"

namespace fuselage::learn {
namespace {

constexpr float max_feature = 1e37F;  // XGBoost doubles the largest value of a feature
constexpr float max_label = 31;

template <class T>
void expect_range(const char* option, T value, T min, T max) {
  if (!(value >= min && value <= max))
    fail("options.{}: {} is out of range; expected {} to {}", option, value, min, max);
}

void expect_share(const char* option, double value) {
  if (!(value > 0 && value <= 1))
    fail("options.{}: {} is out of range; expected more than 0 and at most 1", option, value);
}

void check(const RankerOptions& options) {
  expect_range("rounds", options.rounds, 1, 10'000);
  expect_range("depth", options.depth, 1, max_tree_depth);
  expect_range("bins", options.bins, 2, 65'536);
  expect_range("threads", options.threads, 1, 1'024);
  expect_range<std::int64_t>("seed", options.seed, 0, 0x7fffffff);
  expect_range("lambda", options.lambda, 0.0, 1e9);
  expect_range("min_hessian", options.min_hessian, 0.0, 1e9);
  expect_share("eta", options.eta);
  expect_share("row_share", options.row_share);
  expect_share("feature_share", options.feature_share);
  const std::size_t nodes = static_cast<std::size_t>(options.rounds) << options.depth;
  if (nodes > max_padded_nodes)
    fail("options.rounds: {} trees of depth {} have {} nodes; expected at most {}", options.rounds,
         options.depth, nodes, max_padded_nodes);
}

void check_groups(const RankerData& data) {
  const auto rows = static_cast<std::size_t>(data.rows.cols());
  if (data.groups.empty()) fail("groups: there are none; expected the sizes of the groups, {} in all", rows);
  std::size_t sum = 0;
  bool has_order = false;
  for (std::size_t g = 0; g < data.groups.size(); ++g) {
    const std::size_t size = data.groups[g];
    if (size == 0) fail("groups[{}]: 0 is an empty group; expected at least 1 row", g);
    if (size > rows - sum)
      fail("groups[{}]: ends after {} rows, and there are {}; expected sizes whose sum is {}", g, sum + size,
           rows, rows);
    for (std::size_t i = sum; i < sum + size; ++i) has_order |= data.labels[i] != data.labels[sum];
    sum += size;
  }
  if (sum != rows)
    fail("groups: the sizes of {} groups add up to {}; expected {}, the number of rows", data.groups.size(),
         sum, rows);
  if (!has_order)
    fail("groups: none of {} has two rows with different labels; expected something to rank",
         data.groups.size());
}

void check(const RankerData& data, RankObjective objective) {
  const Index rows = data.rows.cols();
  const Index features = data.rows.rows();
  if (rows == 0) fail("rows: there are none; expected at least two");
  if (features < 1 || features > max_tree_features)
    fail("rows: {} features; expected 1 to {}", features, max_tree_features);
  if (data.labels.size() != static_cast<std::size_t>(rows))
    fail("labels: there are {}; expected {}, one a row", data.labels.size(), rows);
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const float label = data.labels[i];
    if (!std::isfinite(label)) fail("labels[{}]: {} is not finite; expected a number", i, label);
    if (objective == RankObjective::ndcg && (label < 0 || label > max_label || label != std::floor(label)))
      fail("labels[{}]: {} is no level of relevance; expected an integer from 0 to {} for rank:ndcg", i,
           label, max_label);
  }
  check_groups(data);
  for (Index i = 0; i < rows; ++i)
    for (Index f = 0; f < features; ++f)
      if (std::abs(data.rows(f, i)) > max_feature)
        fail(
            "rows[{}][{}]: {} is out of range; expected a number of magnitude at most {}, or NaN for a "
            "missing one",
            i, f, data.rows(f, i), max_feature);
}

using Settings = std::vector<std::pair<std::string, std::string>>;

// By XGBoost's names, all that decides what is trained.
Settings settings_of(const RankerOptions& options) {
  return {{"objective", std::string(objective_name(options.objective))},
          {"tree_method", "hist"},
          {"max_depth", std::to_string(options.depth)},
          {"eta", json_number(options.eta)},
          {"lambda", json_number(options.lambda)},
          {"min_child_weight", json_number(options.min_hessian)},
          {"subsample", json_number(options.row_share)},
          {"colsample_bytree", json_number(options.feature_share)},
          {"max_bin", std::to_string(options.bins)},
          {"nthread", std::to_string(options.threads)},
          {"seed", std::to_string(options.seed)}};
}

XgMatrix make_matrix(const RankerData& data, int threads) {
  const std::string values = array_interface(data.rows.data(), static_cast<std::size_t>(data.rows.cols()),
                                             static_cast<std::size_t>(data.rows.rows()),
                                             static_cast<std::size_t>(data.rows.outerStride()));
  DMatrixHandle handle = nullptr;
  checked("data",
          XGDMatrixCreateFromDense(
              values.c_str(), fmt::format(R"({{"missing":NaN,"nthread":{}}})", threads).c_str(), &handle));
  XgMatrix matrix(handle);
  checked("labels", XGDMatrixSetFloatInfo(handle, "label", data.labels.data(), data.labels.size()));
  checked("groups", XGDMatrixSetUIntInfo(handle, "group", data.groups.data(), data.groups.size()));
  return matrix;
}

}  // namespace

std::string_view objective_name(RankObjective objective) {
  return objective == RankObjective::pairwise ? "rank:pairwise" : "rank:ndcg";
}

std::string train_ranker(const RankerData& data, const RankerOptions& options) {
  check(options);
  check(data, options.objective);
  const XgMatrix matrix = make_matrix(data, options.threads);
  DMatrixHandle handle = matrix.get();
  BoosterHandle booster_handle = nullptr;
  checked("booster", XGBoosterCreate(&handle, 1, &booster_handle));
  const XgBooster booster(booster_handle);
  checked("verbosity", XGBoosterSetParam(booster.get(), "verbosity", "0"));
  for (const auto& [key, value] : settings_of(options)) {
    checked(key.c_str(), XGBoosterSetParam(booster.get(), key.c_str(), value.c_str()));
    checked(key.c_str(), XGBoosterSetAttr(booster.get(), key.c_str(), value.c_str()));
  }
  for (int round = 0; round < options.rounds; ++round)
    checked("training", XGBoosterUpdateOneIter(booster.get(), round, handle));
  bst_ulong length = 0;
  const char* text = nullptr;
  checked("model", XGBoosterSaveModelToBuffer(booster.get(), R"({"format":"json"})", &length, &text));
  return {text, length};
}

void save_ranker(const std::string& path, std::string_view model) {
  const FlatTrees readable(model, path);
  write_file_atomically(path, model);
}

}  // namespace fuselage::learn

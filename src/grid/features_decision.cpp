#include "fuselage/grid/features_decision.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>

namespace fuselage::grid {
namespace {

// Of a token, what all tokens of a kernel share is in the kernel's row already, and the granularity of a
// candidate is always native.
bool own(std::string_view name) {
  constexpr std::array shared = {"place",      "k_steps",    "tile_rows", "tile_columns", "tile_height",
                                 "tile_width", "tile_depth", "row_snake", "column_snake"};
  return std::find(shared.begin(), shared.end(), name) == shared.end();
}

std::vector<std::size_t> own_columns() {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < token_schema().size(); ++i)
    if (own(token_schema().features()[i].name)) columns.push_back(i);
  return columns;
}

const std::vector<std::size_t>& token_columns_of_rows() {
  static const std::vector<std::size_t> columns = own_columns();
  return columns;
}

Schema make_schema() {
  std::vector<Feature> features;
  const auto add = [&](const Feature& f, const std::string& prefix, const std::string& meaning) {
    features.push_back({prefix + "." + f.name, f.unit, meaning + f.meaning});
  };
  for (const Feature& f : workload_schema().features()) add(f, "problem", "the problem: ");
  for (const Feature& f : state_schema().features()) add(f, "state", "before the kernel: ");
  for (const Feature& f : kernel_schema().features()) add(f, "kernel", "the kernel: ");
  for (std::size_t i : token_columns_of_rows())
    add(token_schema().features()[i], "most", "the most of the kernel's ops: ");
  for (std::size_t i : token_columns_of_rows())
    add(token_schema().features()[i], "least", "the least of the kernel's ops: ");
  return {"grid.decision", 1, std::move(features)};
}

}  // namespace

const Schema& decision_schema() {
  static const Schema schema = make_schema();
  return schema;
}

void DecisionRows::fill(const State& state, std::span<const GridKernel> kernels, std::span<float> rows) {
  assert(rows.size() == width() * kernels.size());
  workload_.resize(workload_schema().size());
  state_.resize(state_schema().size());
  kernel_.resize(kernel_schema().size());
  most_.resize(token_schema().size());
  least_.resize(token_schema().size());
  const StateView before = features_->view(state);
  features_->workload(workload_);
  features_->state(before, state_);
  auto out = rows.begin();
  for (const GridKernel& kernel : kernels) {
    const Group& group = *kernel.group;
    retain_.clear();
    for (std::size_t i = 0; i < std::min<std::size_t>(64, group.made.size()); ++i)
      if (kernel.retained >> i & 1U) retain_.push_back(group.made[i]);
    features_->summary(
        {.ops = group.ops, .retain = retain_, .granularity = features_->native_granularity(group.ops)},
        before, {.kernel = kernel_, .most = most_, .least = least_});
    out = std::copy(workload_.begin(), workload_.end(), out);
    out = std::copy(state_.begin(), state_.end(), out);
    out = std::copy(kernel_.begin(), kernel_.end(), out);
    for (std::size_t i : token_columns_of_rows()) *out++ = most_[i];
    for (std::size_t i : token_columns_of_rows()) *out++ = least_[i];
  }
}

}  // namespace fuselage::grid

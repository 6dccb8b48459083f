// The environment's accounting written out as loops over tiles, k-steps and tensors, straight from the text
// of its rules, for tests that compare. Shares no code with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"

namespace fuselage::grid {

struct BruteStep {
  double latency = 0;
  double working_set = 0;
  std::int64_t tiles = 0;
  std::int64_t iterations = 0;
  double transferred = 0;
  double stored = 0;
};

// Of a step that the rules accept, or would but for its working set.
class BruteFusionops {
 public:
  BruteFusionops(const Instance& instance, const std::set<TensorId>& fast, const Kernel& step)
      : instance_(instance), fast_(fast), step_(step) {
    for (const OpId id : step.ops) {
      for (const TensorId t : instance.op(id).inputs) consumed_.insert(t);
      for (const TensorId t : instance.op(id).outputs) produced_.insert(t);
    }
    for (const OpId id : step.ops) name_inputs(instance.op(id));
    for (const OpId id : step.ops) measure(instance.op(id));
    columns_ = static_cast<std::int64_t>(std::ceil(double(width_) / double(step.granularity.w)));
    rows_ = static_cast<std::int64_t>(std::ceil(double(height_) / double(step.granularity.h)));
    if (reduction_ > 0)
      k_steps_ = static_cast<std::int64_t>(std::ceil(double(reduction_) / double(step.granularity.k)));
  }

  BruteStep run() {
    BruteStep result;
    result.working_set = working_set();
    result.tiles = columns_ * rows_;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < result.tiles; ++i) order.push_back(i);
    if (step_.traversal) order = *step_.traversal;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::int64_t k = 0; k < k_steps_; ++k) {
        const bool again = i > 0;
        const bool same_row = again && order[i] / columns_ == order[i - 1] / columns_;
        const bool same_column = again && order[i] % columns_ == order[i - 1] % columns_;
        result.latency += iteration(i == 0, k, same_row, same_column, result);
        ++result.iterations;
      }
    }
    return result;
  }

 private:
  void name_inputs(const Op& op) {
    for (const TensorId t : op.inputs) {
      if (produced_.count(t)) continue;
      const char role = op.kind == OpKind::pointwise ? 'p' : op.inputs[0] == t ? 'l' : 'r';
      const auto known = std::find_if(inputs_.begin(), inputs_.end(), [&](auto& i) { return i.first == t; });
      if (known == inputs_.end())
        inputs_.push_back({t, role});
      else
        known->second = role;
    }
  }

  void measure(const Op& op) {
    for (const TensorId t : op.outputs) {
      width_ = std::max(width_, instance_.tensor(t).width);
      height_ = std::max(height_, instance_.tensor(t).height);
    }
    if (op.kind == OpKind::matmul) reduction_ = std::max(reduction_, instance_.tensor(op.inputs[0]).width);
  }

  double tile() const { return double(step_.granularity.w) * double(step_.granularity.h); }
  double size(TensorId t) const { return double(instance_.tensor(t).size()); }

  double working_set() const {
    const auto [w, h, k] = step_.granularity;
    double sum = 0;
    for (const auto& [t, role] : inputs_) {
      if (fast_.count(t))
        sum += size(t);
      else if (role == 'p')
        sum += tile();
      else if (role == 'r')
        sum += double(w * k);
      else
        sum += k_steps_ > 1 ? size(t) : double(k * h);
    }
    for (const TensorId t : produced_)
      if (!consumed_.count(t)) sum += tile();
    for (const TensorId t : fast_)
      if (std::none_of(inputs_.begin(), inputs_.end(), [&](auto& i) { return i.first == t; })) sum += size(t);
    return sum;
  }

  double iteration(bool first_tile, std::int64_t k_step, bool same_row, bool same_column,
                   BruteStep& result) const {
    const auto [w, h, k] = step_.granularity;
    const double bandwidth = instance_.machine().bandwidth;
    double in = 0;
    for (const auto& [t, role] : inputs_) {
      if (fast_.count(t)) continue;
      double elements = 0;
      if (role == 'p' && k_step == 0) elements = tile();
      if (role == 'l' && k_steps_ > 1 && first_tile && k_step == 0) elements = size(t);
      if (role == 'l' && k_steps_ == 1 && !same_row) elements = double(k * h);
      if (role == 'r' && (k_steps_ > 1 || !same_column)) elements = double(w * k);
      in += elements / bandwidth;
      result.transferred += elements;
    }
    double out = 0;
    for (const TensorId t : produced_) {
      const bool kept = std::count(step_.retain.begin(), step_.retain.end(), t) > 0;
      if (consumed_.count(t) || kept || k_step + 1 < k_steps_) continue;
      out += tile() / bandwidth;
      result.transferred += tile();
      result.stored += tile();
    }
    double pointwise = 0;
    double matmul = 0;
    for (const OpId id : step_.ops) {
      const Op& op = instance_.op(id);
      (op.kind == OpKind::pointwise ? pointwise : matmul) +=
          op.kind == OpKind::pointwise ? op.base_cost : op.base_cost / double(k_steps_);
    }
    return std::max(pointwise + matmul, in + out);
  }

  const Instance& instance_;
  const std::set<TensorId>& fast_;
  const Kernel& step_;
  std::set<TensorId> consumed_;
  std::set<TensorId> produced_;
  std::vector<std::pair<TensorId, char>> inputs_;  // roles: pointwise, lhs, rhs
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::int64_t reduction_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t k_steps_ = 1;
};

}  // namespace fuselage::grid

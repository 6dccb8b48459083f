#include "fuselage/walk/decision_features.h"

#include <algorithm>
#include <cassert>

namespace fuselage::walk {
namespace {

Schema make_schema() {
  std::vector<Feature> features;
  const auto add = [&](const Schema& schema, const std::string& prefix, const std::string& meaning) {
    for (const Feature& feature : schema.features())
      features.push_back({prefix + "." + feature.name, feature.unit, meaning + feature.meaning});
  };
  add(state_schema(), "state", "before the kernel: ");
  add(state_schema(), "after", "after the kernel: ");
  add(token_schema(), "first", "the kernel's first node: ");
  add(token_schema(), "last", "the kernel's last node: ");
  add(token_schema(), "sum", "sum over the kernel's nodes: ");
  features.push_back({"fallback", "0 or 1", "the kernel runs out of memory, so that its nodes run alone"});
  return {"walk.decision", 1, std::move(features)};
}

}  // namespace

const Schema& decision_schema() {
  static const Schema schema = make_schema();
  return schema;
}

void append_tokens(const Features& features, const State& state, const Kernel& kernel,
                   std::vector<float>& tokens) {
  const std::size_t begin = tokens.size();
  tokens.resize(begin + token_schema().size() * static_cast<std::size_t>(kernel.count));
  features.tokens({.first = kernel.first,
                   .count = kernel.count,
                   .tile = kernel.tile,
                   .retain = std::span<const NodeId>(kernel.retain.data(), kernel.retain.size())},
                  {state.resident.data(), state.resident.size()}, std::span(tokens).subspan(begin));
}

void DecisionRows::fill(const WalkProblem& problem, const State& state, std::span<const Kernel> kernels,
                        std::span<float> rows) {
  const std::size_t token = token_schema().size();
  assert(rows.size() == width() * kernels.size());
  state_.resize(state_schema().size());
  after_.resize(state_schema().size());
  const std::span<const NodeId> resident(state.resident.data(), state.resident.size());
  features_->state({.position = state.position, .open = 0, .resident = resident}, state_);
  auto out = rows.begin();
  for (const Kernel& kernel : kernels) {
    tokens_.clear();
    append_tokens(*features_, state, kernel, tokens_);
    out = std::copy(state_.begin(), state_.end(), out);
    const State after = problem.apply(state, kernel);
    features_->state({.position = after.position,
                      .open = 0,
                      .resident = std::span<const NodeId>(after.resident.data(), after.resident.size())},
                     after_);
    out = std::copy(after_.begin(), after_.end(), out);
    out = std::copy_n(tokens_.begin(), token, out);
    out = std::copy(tokens_.end() - static_cast<std::ptrdiff_t>(token), tokens_.end(), out);
    std::fill_n(out, token, 0.0F);
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      out[static_cast<std::ptrdiff_t>(i % token)] += tokens_[i];
    out += static_cast<std::ptrdiff_t>(token);
    *out++ = kernel.fallback ? 1.0F : 0.0F;
  }
}

}  // namespace fuselage::walk

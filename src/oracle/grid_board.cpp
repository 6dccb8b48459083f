#include "grid_board.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/problem_json.h"

namespace fuselage::oracle {
namespace {

using grid::TensorId;

bool contains(const std::vector<TensorId>& list, TensorId id) {
  return std::find(list.begin(), list.end(), id) != list.end();
}

std::string ids_text(const std::vector<char>& flags) {
  std::string text = "[";
  for (std::size_t id = 0; id < flags.size(); ++id)
    if (flags[id]) fmt::format_to(std::back_inserter(text), "{}{}", text.size() > 1 ? ", " : "", id);
  return text + "]";
}

}  // namespace

std::string problem_line(const grid::Instance& instance) {
  return nlohmann::ordered_json::parse(grid::problem_to_json(instance)).dump();
}

GridBoard::GridBoard(const grid::Instance& instance, const grid::Rules& rules, int max_steps, double naive)
    : instance_(instance), max_steps_(max_steps), naive_(naive) {
  if (rules.set == grid::RuleSet::mlsys)
    problem_ = problem_line(instance);
  else
    episode_.emplace(instance, grid::EpisodeOptions{.rules = rules.set, .max_steps = max_steps});
  reset();
}

void GridBoard::reset() {
  if (episode_) episode_->reset();
  steps_ = 0;
  latency_ = 0;
  ran_.assign(static_cast<std::size_t>(instance_.op_count()), 0);
  stored_.assign(static_cast<std::size_t>(instance_.tensor_count()), 0);
  resident_.clear();
}

void GridBoard::play(const grid::Kernel& step, double latency) {
  ++steps_;
  if (!episode_) {
    latency_ += latency;
    play_here(step);
    return;
  }
  const grid::StepResult result = episode_->step(step);
  if (result.error) throw std::logic_error("a labelled step is refused: " + result.error->message);
  latency_ = episode_->total_latency();
}

// What is made and neither read inside nor retained is stored.
void GridBoard::play_here(const grid::Kernel& step) {
  std::vector<TensorId> read;
  for (const grid::OpId id : step.ops) {
    ran_[static_cast<std::size_t>(id)] = 1;
    const auto& inputs = instance_.op(id).inputs;
    read.insert(read.end(), inputs.begin(), inputs.end());
  }
  for (const grid::OpId id : step.ops)
    for (const TensorId t : instance_.op(id).outputs)
      if (!contains(read, t) && !contains(step.retain, t)) stored_[static_cast<std::size_t>(t)] = 1;
  resident_ = step.retain;
  std::sort(resident_.begin(), resident_.end());
}

std::string GridBoard::observation() const {
  if (episode_) return episode_->observation(false);
  std::string text =
      fmt::format(R"({{"step": {}, "ops_done": {}, "stored": {}, "resident": [{}], "latency": )", steps_,
                  ids_text(ran_), ids_text(stored_), fmt::join(resident_, ", "));
  append_json_number(text, latency_);
  return text + R"(, "problem": )" + problem_ + "}";
}

bool GridBoard::complete() const {
  if (episode_) return episode_->complete();
  for (TensorId t = 0; t < instance_.tensor_count(); ++t)
    if (instance_.is_output(t) && !stored_[static_cast<std::size_t>(t)]) return false;
  return std::find(ran_.begin(), ran_.end(), 0) == ran_.end();
}

double GridBoard::score_of(double latency, bool is_complete) const {
  if (!episode_) return is_complete && naive_ > 0 ? (naive_ - latency) / naive_ : 0;
  return grid::fusionops_score({.naive_latency = episode_->naive_latency(),
                                .total_latency = latency,
                                .covered_ops = is_complete ? instance_.op_count() : episode_->covered_ops(),
                                .ops = instance_.op_count(),
                                .complete = is_complete});
}

}  // namespace fuselage::oracle

#include "fuselage/learn/schedule_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/checkpoint.h"
#include "fuselage/learn/flush_denormals.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {
namespace {

std::vector<std::size_t> trainable(const Schedules& set) {
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < set.groups(); ++g)
    if (set.first_schedule[g + 1] - set.first_schedule[g] >= 2) groups.push_back(g);
  if (groups.empty()) fail("no workload has two schedules to rank; expected at least one");
  return groups;
}

void shuffle(std::vector<std::size_t>& items, search::SplitMix& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Of an epoch: enough for the largest group to be gone through.
std::int64_t rounds_of(const Schedules& set, const std::vector<std::size_t>& groups, int at_once) {
  std::size_t most = 0;
  for (std::size_t g : groups) most = std::max(most, set.first_schedule[g + 1] - set.first_schedule[g]);
  return ceil_div(static_cast<std::int64_t>(most), at_once);
}

AdamOptions adam_options(const ScheduleTrainingOptions& options, std::int64_t total) {
  AdamOptions adam = options.adam;
  adam.total = total;
  adam.warm_up = static_cast<std::int64_t>(std::lround(options.warm_up * static_cast<double>(total)));
  return adam;
}

}  // namespace

ScheduleTraining::ScheduleTraining(ScheduleModel& model, const Schedules& set,
                                   const ScheduleTrainingOptions& options)
    : model_(model),
      set_(set),
      options_(options),
      groups_(trainable(set)),
      rounds_(rounds_of(set, groups_, options.schedules_a_group)),
      steps_an_epoch_(rounds_ * ceil_div(static_cast<std::int64_t>(groups_.size()), options.groups_a_batch)),
      adam_(model.parameters(), adam_options(options, steps_an_epoch_ * options.epochs)) {}

// Of every group that is due the schedules that are due in this round, around the end to the first ones.
void ScheduleTraining::choose(std::int64_t step) {
  const std::int64_t epoch = step / steps_an_epoch_;
  const std::int64_t batches = steps_an_epoch_ / rounds_;
  const auto round = static_cast<std::size_t>(step % steps_an_epoch_ / batches);
  const auto batch = static_cast<std::size_t>(step % batches);
  if (epoch != epoch_) {
    epoch_ = epoch;
    order_.assign(static_cast<std::size_t>(rounds_), groups_);
    search::SplitMix random(options_.seed * 1'000'003 + static_cast<std::uint64_t>(epoch));
    for (auto& groups : order_) shuffle(groups, random);
  }
  const auto width = static_cast<std::size_t>(options_.groups_a_batch);
  const auto at_once = static_cast<std::size_t>(options_.schedules_a_group);
  const std::vector<std::size_t>& groups = order_[round];
  chosen_.clear();
  for (std::size_t i = batch * width; i < std::min(groups.size(), (batch + 1) * width); ++i) {
    const std::size_t first = set_.first_schedule[groups[i]];
    std::vector<std::size_t> members(set_.first_schedule[groups[i] + 1] - first);
    std::iota(members.begin(), members.end(), first);
    search::SplitMix random((options_.seed ^ groups[i]) * 1'000'003 + static_cast<std::uint64_t>(epoch));
    shuffle(members, random);
    for (std::size_t k = 0; k < std::min(at_once, members.size()); ++k)
      chosen_.push_back(members[(round * at_once + k) % members.size()]);
  }
}

double ScheduleTraining::step() {
  const FlushDenormals flush;
  choose(steps());
  model_.pack(set_, chosen_, batch_);
  model_.forward(batch_, pass_);
  double loss = options_.ranking.weight * rank_pairs<float>({.scores = pass_.scorer.scores(),
                                                             .costs = batch_.costs,
                                                             .groups = batch_.groups,
                                                             .d_scores = pass_.scorer.d_scores()},
                                                            options_.ranking);
  if (options_.increments.weight > 0)
    loss += options_.increments.weight *
            match_increments<float>(pass_.scorer.increments(), batch_.increments.view(),
                                    pass_.scorer.d_increments(), options_.increments);
  if (!std::isfinite(loss))
    fail("the loss of step {} is {}; expected a finite one: lower the rate", steps(), loss);
  model_.backward(batch_, pass_);
  adam_.step(model_.parameters());
  return loss;
}

// What else decides how a training goes on.
std::string ScheduleTraining::identity() const {
  double costs = 0;
  for (double cost : set_.costs) costs += cost;
  return fmt::format(
      "seed {} epochs {} groups {} schedules {} rate {} warm-up {} clip {} ranking {} {} increments {} {}"
      " set {} {} {}",
      options_.seed, options_.epochs, options_.groups_a_batch, options_.schedules_a_group, options_.adam.rate,
      options_.warm_up, options_.adam.clip, options_.ranking.weight, options_.ranking.slope,
      options_.increments.weight, options_.increments.beta, set_.groups(), set_.schedules(), costs);
}

void ScheduleTraining::save(const std::string& path, const std::string& notes) const {
  save_checkpoint(path, model_.parameters(), adam_, {{"training", identity()}, {"notes", notes}});
}

std::string ScheduleTraining::restore(const std::string& path) {
  const TensorFile file = read_tensors(path);
  if (file.note("training") != identity())
    fail("{}: the checkpoint of another training, {}; expected {}", path, quote(file.note("training")),
         quote(identity()));
  load_checkpoint(path, model_.parameters(), adam_);
  return file.note("notes");
}

double ranking_accuracy(const Schedules& set, const std::vector<float>& scores) {
  std::vector<std::int64_t> groups;
  for (std::size_t g = 0; g < set.groups(); ++g)
    groups.insert(groups.end(), set.first_schedule[g + 1] - set.first_schedule[g],
                  static_cast<std::int64_t>(g));
  const Eigen::Map<const Matrix<float>> row(scores.data(), 1, static_cast<Index>(scores.size()));
  return pairwise_accuracy<float>(row, set.costs, groups);
}

}  // namespace fuselage::learn

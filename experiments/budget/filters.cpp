#include "filters.h"

#include <algorithm>

#include "fuselage/learn/bag.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/oracle/simulate.h"

namespace fuselage::experiments {
namespace {

const std::vector<std::size_t>& action_columns() {
  static const std::vector<std::string> names = {
      "op_matmul",  "op_conv2d",  "op_layernorm",   "op_softmax",  "op_reduce", "op_relu",
      "op_gelu",    "op_add",     "op_transpose",   "fused",       "tile_32",   "tile_64",
      "tile_128",   "tile_256",   "retained",       "fan_in",      "fan_out",   "input_uses_left",
      "next_use",   "last_use",   "reads_previous", "output_size", "kept_size", "slice_size",
      "flops_time", "tiled_time", "tile_count",     "output_time"};
  static const std::vector<std::size_t> columns = learn::columns_of(walk::token_schema(), names);
  return columns;
}

class BagFilter : public oracle::Filter {
 public:
  BagFilter(const walk::EpisodeContext& context, const learn::FlatTrees& trees)
      : tokens_(context), trees_(trees) {}

  void rate(std::span<oracle::Candidate> candidates) override {
    if (candidates.empty()) return;
    learn::Schedules set{.features = static_cast<learn::Index>(tokens_.width()),
                         .facts = static_cast<learn::Index>(walk::workload_schema().size())};
    set.begin_group(tokens_.workload());
    for (const oracle::Candidate& one : candidates) {
      std::vector<float> rows;
      tokens_.append(one.plan, rows);
      set.add(rows, std::vector<float>(rows.size() / tokens_.width(), 0), 0);
    }
    const std::vector<float> numbers = learn::rows_of(learn::bags_of(set, action_columns()));
    std::vector<float> scores(candidates.size());
    const Eigen::Map<const learn::Matrix<float>> matrix(numbers.data(), trees_.features(),
                                                        static_cast<learn::Index>(candidates.size()));
    trees_.score(matrix, scores, scratch_);
    for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].score = static_cast<double>(scores[i]);
  }

 private:
  oracle::PlanTokens tokens_;
  const learn::FlatTrees& trees_;
  learn::FlatTreesScratch scratch_;
};

class ExactFilter : public oracle::Filter {
 public:
  explicit ExactFilter(const Workload& workload) : workload_(workload) {}
  void rate(std::span<oracle::Candidate> candidates) override {
    for (oracle::Candidate& one : candidates)
      one.score = -oracle::simulate(workload_.graph, workload_.hardware, one.plan,
                                    {.rules = walk::Rules::seed_honest})
                       .latency;
  }

 private:
  const Workload& workload_;
};

}  // namespace

learn::FlatTrees train_bag(const Set& train) {
  const learn::Schedules bags = learn::bags_of(train.schedules, action_columns());
  const std::vector<float> numbers = learn::rows_of(bags);
  const auto count = static_cast<learn::Index>(bags.schedules());
  const Eigen::Map<const learn::Matrix<float>> rows(numbers.data(),
                                                    static_cast<learn::Index>(numbers.size()) / count, count);
  std::vector<float> labels;  // how many of the group are dearer
  std::vector<std::uint32_t> groups;
  for (std::size_t g = 0; g < bags.groups(); ++g) {
    const auto begin = bags.costs.begin() + static_cast<std::ptrdiff_t>(bags.first_schedule[g]);
    const auto end = bags.costs.begin() + static_cast<std::ptrdiff_t>(bags.first_schedule[g + 1]);
    groups.push_back(static_cast<std::uint32_t>(end - begin));
    for (auto cost = begin; cost != end; ++cost)
      labels.push_back(static_cast<float>(std::count_if(begin, end, [&](double x) { return x > *cost; })));
  }
  return {learn::train_ranker({.rows = rows, .labels = labels, .groups = groups}, {.rounds = 300}),
          "the action bag"};
}

std::unique_ptr<oracle::Filter> make_filter(FilterKind kind, const walk::EpisodeContext& context,
                                            const Workload& workload, const Learned& learned,
                                            std::uint64_t seed) {
  switch (kind) {
    case FilterKind::none:
      break;
    case FilterKind::bag:
      return std::make_unique<BagFilter>(context, learned.bag);
    case FilterKind::recurrent:
      return std::make_unique<oracle::ModelFilter>(context, learned.model);
    case FilterKind::refit:
      return std::make_unique<oracle::RefitFilter>(context, learned.model, seed);
    case FilterKind::exact:
      return std::make_unique<ExactFilter>(workload);
  }
  return nullptr;
}

}  // namespace fuselage::experiments

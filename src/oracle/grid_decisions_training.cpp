// The ranker of grid decisions, from problems to a model and what it is worth.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/grid/generator.h"
#include "fuselage/oracle/grid_decisions.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::oracle {
namespace {

// The second visit of a problem draws other numbers than the first.
constexpr std::uint64_t second_round = 0x632be59bd9b4e019ULL;

std::vector<float> scores_of(const Decisions& decisions, const learn::FlatTrees& trees) {
  std::vector<float> scores(decisions.regret.size());
  const Eigen::Map<const learn::Matrix<float>> rows(decisions.rows.data(),
                                                    static_cast<learn::Index>(decisions.width),
                                                    static_cast<learn::Index>(scores.size()));
  learn::FlatTreesScratch scratch;
  trees.score(rows, scores, scratch);
  return scores;
}

std::string train(const Decisions& decisions, const learn::RankerOptions& options) {
  std::vector<float> labels;
  for (double regret : decisions.regret) labels.push_back(relevance(regret));
  const Eigen::Map<const learn::Matrix<float>> rows(decisions.rows.data(),
                                                    static_cast<learn::Index>(decisions.width),
                                                    static_cast<learn::Index>(labels.size()));
  return learn::train_ranker({.rows = rows, .labels = labels, .groups = decisions.sizes}, options);
}

// The generated problems of one training, those of each split apart; none twice.
class Problems {
 public:
  explicit Problems(const GridTrainingOptions& options) {
    search::SplitMix random(options.seed);
    std::unordered_set<std::string> seen;
    while (static_cast<int>(train.size() + test.size()) < options.problems) {
      const bool honest = (train.size() + test.size()) % 2 == 1;
      const std::uint64_t seed = random.next() % first_held_out_seed;
      GridSample sample = draw_grid({.max_ops = options.max_ops, .honest = honest}, seed);
      const std::string hash = grid_hash(sample.instance);
      if (!seen.insert(hash).second) continue;
      (learn::split_of(hash) == learn::Split::test ? test : train).push_back(std::move(sample));
    }
  }

  std::vector<GridSample> train;
  std::vector<GridSample> test;
};

}  // namespace

GridSample draw_grid(const GridDrawOptions& options, std::uint64_t seed) {
  search::SplitMix random(seed);
  const auto network = static_cast<grid::Network>(random.below(grid::network_names.size()));
  const auto range = static_cast<std::size_t>(options.max_ops - options.min_ops + 1);
  const int ops = options.min_ops + static_cast<int>(random.below(range));
  const grid::Rules rules = {.set = options.honest ? grid::RuleSet::fusionops_honest : grid::RuleSet::mlsys};
  return {fmt::format("{}_n{}_s{}_{}", grid::network_names[static_cast<std::size_t>(network)], ops, seed,
                      name(rules.set)),
          grid::generate({.network = network, .ops = ops, .seed = seed}), rules};
}

std::string grid_hash(const grid::Instance& instance) {
  // Of each op what it is and what it reads, by hashes of the makers: the same however ops are numbered.
  std::vector<std::string> tensor(static_cast<std::size_t>(instance.tensor_count()));
  const auto size = [&](grid::TensorId t) {
    return fmt::format("{}x{}", instance.tensor(t).height, instance.tensor(t).width);
  };
  for (grid::TensorId t = 0; t < instance.tensor_count(); ++t)
    if (instance.is_input(t)) tensor[static_cast<std::size_t>(t)] = size(t);
  std::vector<std::string> ops;
  for (grid::OpId id : instance.order()) {
    const grid::Op& op = instance.op(id);
    std::string text = fmt::format("{} {}", static_cast<int>(op.kind), op.base_cost);
    for (grid::TensorId t : op.inputs) text += " " + tensor[static_cast<std::size_t>(t)];
    for (grid::TensorId t : op.outputs) text += " > " + size(t);
    ops.push_back(sha256_hex(text));
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      tensor[static_cast<std::size_t>(op.outputs[i])] = fmt::format("{}.{}", ops.back(), i);
  }
  std::sort(ops.begin(), ops.end());
  Sha256 all;
  for (const std::string& op : ops) all.update(op);
  return all.hex_digest();
}

DecisionFigures decision_figures(const Decisions& decisions, const learn::FlatTrees& trees) {
  DecisionFigures figures;
  if (decisions.groups() == 0) return figures;
  const std::vector<float> scores = scores_of(decisions, trees);
  std::vector<learn::GroupFigures> groups;
  std::size_t begin = 0;
  for (std::uint32_t count : decisions.sizes) {
    std::vector<double> costs, own(scores.begin() + static_cast<std::ptrdiff_t>(begin),
                                   scores.begin() + static_cast<std::ptrdiff_t>(begin + count));
    double sum = 0, first = -1, best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = begin; i < begin + count; ++i) {
      const double regret = std::min(decisions.regret[i], 10.0);
      costs.push_back(1 + regret);
      sum += regret;
      if (scores[i] > best || (scores[i] == best && regret > first)) {
        best = scores[i];
        first = regret;
      }
    }
    begin += count;
    const auto group = learn::group_figures({.costs = costs, .scores = own});
    if (!group) continue;
    groups.push_back(*group);
    figures.first_regret += first;
    figures.first_best += first <= 0 ? 1 : 0;
    figures.random_regret += sum / count;
  }
  figures.groups = groups.size();
  if (groups.empty()) return figures;
  const auto count = static_cast<double>(groups.size());
  figures.first_regret /= count;
  figures.first_best /= count;
  figures.random_regret /= count;
  figures.metrics = learn::bootstrap(groups);
  return figures;
}

GridTraining train_grid_decisions(const GridTrainingOptions& options) {
  if (options.problems < 10) fail("problems: {} are too few; expected 10 or more", options.problems);
  const Problems problems(options);
  Decisions train_data, test_data;
  const auto total = static_cast<double>(problems.train.size() * 2 + problems.test.size());
  double done = 0;
  const auto add = [&](const std::vector<GridSample>& samples, GridDecisionOptions decisions, Decisions& to) {
    search::SplitMix seeds(options.seed ^ decisions.seed);
    for (const GridSample& sample : samples) {
      decisions.seed = seeds.next();
      add_grid_decisions(sample.instance, sample.rules, decisions, to);
      if (options.progress) options.progress(++done / total);
    }
  };
  add(problems.train, options.decisions, train_data);
  // Once more, where a first model gets to: its mistakes are the states to learn from.
  const learn::FlatTrees first(train(train_data, options.ranker), "first ranker");
  GridDecisionOptions again = options.decisions;
  again.seed ^= second_round;
  again.policy = &first;
  add(problems.train, again, train_data);
  GridTraining result;
  result.model = train(train_data, options.ranker);
  const learn::FlatTrees trees(result.model, "grid ranker");
  add(problems.test, again, test_data);
  result.problems = problems.train.size();
  result.states = train_data.groups();
  result.candidates = train_data.regret.size();
  result.train = decision_figures(train_data, trees);
  result.test = decision_figures(test_data, trees);
  return result;
}

}  // namespace fuselage::oracle

#include "fuselage/oracle/tune_filter.h"

#include <algorithm>
#include <cmath>

#include "fuselage/core/cost.h"
#include "fuselage/learn/ranker.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t enough = 16;  // plans, for a ranker
constexpr double grown = 1.125;     // times as many plans as last time are worth another training
constexpr double forgetting = 0.9;  // of what was right or wrong, with every batch
constexpr learn::RankerOptions ranker_options = {
    .rounds = 60, .depth = 4, .eta = 0.15, .row_share = 0.8, .feature_share = 0.5};

// To mean 0 and deviation 1; all equal: 0.
std::vector<double> standardised(std::vector<double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, square = 0;
  for (double x : values) mean += x / n;
  for (double x : values) square += (x - mean) * (x - mean) / n;
  const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
  for (double& x : values) x = (x - mean) * scale;
  return values;
}

// How many latencies are larger: in float, latencies themselves that are nearly the same would be equal.
std::vector<float> labels_of(std::span<const Seen> seen) {
  std::vector<double> sorted;
  for (const Seen& one : seen) sorted.push_back(one.latency);
  std::sort(sorted.begin(), sorted.end());
  std::vector<float> labels;
  for (const Seen& one : seen)
    labels.push_back(static_cast<float>(
        sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), one.latency * (1 + same_cost))));
  return labels;
}

}  // namespace

std::vector<double> Filter::order(std::span<const Candidate> candidates) {
  std::vector<double> scores;
  for (const Candidate& one : candidates) scores.push_back(one.score);
  return scores;
}

void Filter::learn(std::span<const Seen>, std::size_t) {}

PlanTokens::PlanTokens(const walk::EpisodeContext& context)
    : context_(context), features_(context.graph(), context.hardware(), context.runs()) {}

std::size_t PlanTokens::width() const {
  return walk::token_schema().size();
}

std::vector<float> PlanTokens::workload() const {
  std::vector<float> row(walk::workload_schema().size());
  features_.workload(row);
  return row;
}

void PlanTokens::append(const walk::Plan& plan, std::vector<float>& rows) const {
  std::vector<NodeId> resident;
  for (const walk::PlanKernel& kernel : plan) {
    const walk::KernelView view = {.first = context_.graph().position(kernel.nodes[0]),
                                   .count = static_cast<int>(kernel.nodes.size()),
                                   .tile = walk::tile_index(kernel.tile),
                                   .retain = kernel.retain};
    const std::size_t begin = rows.size();
    rows.resize(begin + width() * kernel.nodes.size());
    features_.tokens(view, resident, std::span(rows).subspan(begin));
    const int end = view.first + view.count;
    std::erase_if(resident, [&](NodeId x) { return context_.runs().uses_from(x, end) == 0; });
    for (NodeId x : kernel.retain)
      if (std::find(resident.begin(), resident.end(), x) == resident.end()) resident.push_back(x);
  }
}

void ModelFilter::rate(std::span<Candidate> candidates) {
  learn::Schedules set;
  set.features = static_cast<learn::Index>(tokens_.width());
  const std::vector<float> workload = tokens_.workload();
  set.facts = static_cast<learn::Index>(workload.size());
  set.begin_group(workload);
  std::vector<float> rows;
  std::vector<float> increments;
  for (Candidate& one : candidates) {
    rows.clear();
    tokens_.append(one.plan, rows);
    increments.assign(rows.size() / tokens_.width(), 0);
    set.add(rows, increments, 0);
    describe(rows, one);
  }
  if (candidates.empty()) return;
  const std::vector<float> scores = model_.scores(set);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].score = static_cast<double>(scores[i]);
}

void ModelFilter::describe(std::span<const float>, Candidate&) const {}

// Mean and maximum of every token feature; the score is prepended when it is known.
void RefitFilter::describe(std::span<const float> rows, Candidate& candidate) const {
  const std::size_t width = walk::token_schema().size();
  const std::size_t tokens = rows.size() / width;
  candidate.features.assign(2 * width, 0);
  for (std::size_t f = 0; f < width; ++f) {
    double sum = 0;
    float most = rows[f];
    for (std::size_t t = 0; t < tokens; ++t) {
      sum += static_cast<double>(rows[t * width + f]);
      most = std::max(most, rows[t * width + f]);
    }
    candidate.features[f] = static_cast<float>(sum / static_cast<double>(tokens));
    candidate.features[width + f] = most;
  }
}

// Log odds of being right, none for guessing.
double RefitFilter::Record::weight() const {
  const double share = std::clamp(right / all, 0.5, 0.99);
  return std::log(share / (1 - share));
}

std::vector<double> RefitFilter::ranked(std::span<const Candidate> candidates) const {
  std::vector<double> scores;
  learn::FlatTreesScratch scratch;
  std::vector<float> row;
  for (const Candidate& one : candidates) {
    row.assign(1, static_cast<float>(one.score));
    row.insert(row.end(), one.features.begin(), one.features.end());
    scores.push_back(static_cast<double>(ranker_->score(row, scratch)));
  }
  return scores;
}

std::vector<double> RefitFilter::order(std::span<const Candidate> candidates) {
  std::vector<double> scores = Filter::order(candidates);
  if (!ranker_ || candidates.empty()) return scores;
  scores = standardised(std::move(scores));
  const std::vector<double> trees = standardised(ranked(candidates));
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = of_model_.weight() * scores[i] + of_ranker_.weight() * trees[i];
  return scores;
}

void RefitFilter::judge(std::span<const Seen> fresh) {
  if (!ranker_) return;
  std::vector<Candidate> candidates;
  for (const Seen& one : fresh) candidates.push_back(one.candidate);
  const std::vector<double> trees = ranked(candidates);
  for (Record* record : {&of_model_, &of_ranker_}) {
    record->right *= forgetting;
    record->all *= forgetting;
  }
  const auto count = [](Record& record, double better, double worse) {
    record.all += 1;
    record.right += better > worse ? 1 : better == worse ? 0.5 : 0;
  };
  for (std::size_t a = 0; a < fresh.size(); ++a)
    for (std::size_t b = 0; b < fresh.size(); ++b) {
      if (meets(fresh[a].latency, fresh[b].latency)) continue;
      count(of_model_, candidates[a].score, candidates[b].score);
      count(of_ranker_, trees[a], trees[b]);
    }
}

void RefitFilter::refit(std::span<const Seen> seen) {
  const auto features = static_cast<learn::Index>(1 + seen[0].candidate.features.size());
  learn::Matrix<float> rows(features, static_cast<learn::Index>(seen.size()));
  const std::vector<float> labels = labels_of(seen);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto column = static_cast<learn::Index>(i);
    rows(0, column) = static_cast<float>(seen[i].candidate.score);
    for (learn::Index f = 1; f < features; ++f)
      rows(f, column) = seen[i].candidate.features[static_cast<std::size_t>(f - 1)];
  }
  const bool all_equal = std::all_of(labels.begin(), labels.end(), [&](float x) { return x == labels[0]; });
  if (all_equal) return;
  const std::uint32_t group = static_cast<std::uint32_t>(seen.size());
  learn::RankerOptions options = ranker_options;
  options.seed = static_cast<std::int64_t>(seed_ & 0x7fffffff);
  ranker_.emplace(learn::train_ranker({.rows = rows, .labels = labels, .groups = {&group, 1}}, options),
                  "the refitted ranker");
}

void RefitFilter::learn(std::span<const Seen> seen, std::size_t fresh) {
  judge(seen.last(fresh));
  if (seen.size() < enough || static_cast<double>(seen.size()) < grown * static_cast<double>(trained_on_))
    return;
  trained_on_ = seen.size();
  refit(seen);
}

}  // namespace fuselage::oracle

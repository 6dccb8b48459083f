#include "fuselage/oracle/tune.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/tune_proposals.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t elite_size = 24;  // measured plans that have offspring
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_at_least_one(const char* option, int value) {
  if (value < 1) fail("{}: {} is out of range; expected an integer >= 1", option, value);
}

class Tuning {
 public:
  Tuning(const walk::EpisodeContext& context, Evaluator& evaluator, Filter* filter,
         const TuneOptions& options)
      : evaluator_(evaluator), filter_(filter), options_(options), proposals_(context, options.seed) {}

  Tuned run() {
    while (left() > 0) {
      if (is_cancelled()) return finish(TuneStop::cancelled);
      // Whole batches, whatever is left: so more trials only go on where fewer stopped.
      std::vector<Candidate> batch = choose(static_cast<std::size_t>(options_.batch));
      if (batch.empty()) return finish(TuneStop::exhausted);
      if (batch.size() > left()) batch.resize(left());
      if (!measure(std::move(batch))) return finish(TuneStop::cancelled);
      if (options_.progress) options_.progress(tuned_.trials);
    }
    return finish(TuneStop::trials);
  }

 private:
  std::size_t left() const { return static_cast<std::size_t>(options_.trials) - tuned_.trials.size(); }
  bool is_cancelled() const {
    return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  }

  // The best plans measured, the best first; equal ones in the order of their trials.
  std::vector<const walk::Plan*> elite() const {
    std::vector<std::size_t> order(seen_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return seen_[i].latency == infinity; });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return seen_[a].latency < seen_[b].latency; });
    std::vector<const walk::Plan*> plans;
    double last = 0;
    for (std::size_t i : order) {
      if (plans.size() == elite_size) break;
      // Many plans differ in what costs nothing: one of each latency is enough.
      if (meets(last, seen_[i].latency)) continue;
      last = seen_[i].latency;
      plans.push_back(&seen_[i].candidate.plan);
    }
    return plans;
  }

  // Adds n rated candidates to the pool.
  void propose(std::size_t n, std::span<const walk::Plan* const> parents) {
    std::vector<Candidate> fresh = proposals_.next(n, parents);
    filter_->rate(fresh);
    std::move(fresh.begin(), fresh.end(), std::back_inserter(pool_));
  }
  void sort_pool() {
    const std::vector<double> scores = filter_->order(pool_);
    std::vector<std::size_t> order(pool_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    std::vector<Candidate> sorted;
    for (std::size_t i : order) sorted.push_back(std::move(pool_[i]));
    pool_ = std::move(sorted);
  }

  // Later generations descend from the most promising of the pool, as well as from the best measured.
  std::vector<const walk::Plan*> parents() const {
    std::vector<const walk::Plan*> both;
    const std::vector<const walk::Plan*> measured = elite();
    for (std::size_t i = 0; i < elite_size; ++i) {
      if (i < pool_.size()) both.push_back(&pool_[i].plan);
      if (i < measured.size()) both.push_back(measured[i]);
    }
    return both;
  }

  std::vector<Candidate> choose(std::size_t n) {
    if (filter_ == nullptr) return proposals_.next(n, elite());
    const std::size_t wanted = n * static_cast<std::size_t>(options_.proposals);
    const auto generations = static_cast<std::size_t>(options_.generations);
    for (std::size_t g = 0; g < generations; ++g) {
      const std::size_t share = wanted * (g + 1) / generations - wanted * g / generations;
      propose(share, g == 0 ? elite() : parents());
      sort_pool();
    }
    const std::size_t chosen = std::min(n, pool_.size());
    std::vector<Candidate> batch;
    for (std::size_t i = 0; i < chosen; ++i) batch.push_back(std::move(pool_[i]));
    pool_.erase(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(chosen));
    // What is left may be chosen next time.
    if (pool_.size() > wanted) pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(wanted), pool_.end());
    return batch;
  }

  bool measure(std::vector<Candidate> batch) {
    const std::size_t before = tuned_.trials.size();
    std::vector<std::optional<Measurement>> answers(batch.size());
    std::vector<Request> requests;
    std::vector<std::size_t> asked;  // places in the batch
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto number = static_cast<std::int64_t>(before + i + 1);
      if (options_.recall) answers[i] = options_.recall(number, batch[i].plan);
      if (answers[i]) continue;
      requests.push_back({.trial = number, .plan = &batch[i].plan});
      asked.push_back(i);
    }
    evaluator_.evaluate(requests, [&](std::size_t r, const Measurement& measured) {
      answers[asked[r]] = measured;
      if (options_.answered) options_.answered({requests[r].trial, *requests[r].plan, measured});
    });
    // What was answered counts up to the first gap.
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!answers[i]) return false;
      add(*answers[i], std::move(batch[i]));
    }
    if (filter_ != nullptr) filter_->learn(seen_, batch.size());
    return true;
  }

  void add(const Measurement& measured, Candidate candidate) {
    const auto number = static_cast<std::int64_t>(tuned_.trials.size() + 1);
    tuned_.trials.push_back({.number = number, .plan = candidate.plan, .measured = measured});
    const double latency = tuned_.trials.back().latency();
    if (latency < (tuned_.best ? tuned_.trials[*tuned_.best].latency() : infinity))
      tuned_.best = tuned_.trials.size() - 1;
    seen_.push_back({std::move(candidate), latency});
  }

  Tuned finish(TuneStop stop) {
    tuned_.stop = stop;
    return std::move(tuned_);
  }

  Evaluator& evaluator_;
  Filter* filter_;
  const TuneOptions& options_;
  Proposals proposals_;
  std::vector<Candidate> pool_;  // proposed and not measured, the most promising first
  std::vector<Seen> seen_;
  Tuned tuned_;
};

}  // namespace

int Tuned::failures() const {
  return static_cast<int>(std::count_if(trials.begin(), trials.end(),
                                        [](const Trial& trial) { return !trial.measured.latency; }));
}

double Tuned::best_of(std::size_t n) const {
  double least = infinity;
  for (std::size_t i = 0; i < std::min(n, trials.size()); ++i) least = std::min(least, trials[i].latency());
  return least;
}

Tuned tune(const walk::EpisodeContext& context, Evaluator& evaluator, Filter* filter,
           const TuneOptions& options) {
  expect_at_least_one("trials", options.trials);
  expect_at_least_one("batch", options.batch);
  expect_at_least_one("proposals", options.proposals);
  expect_at_least_one("generations", options.generations);
  return Tuning(context, evaluator, filter, options).run();
}

}  // namespace fuselage::oracle

// Search under a budget of measurements, the loop of autoschedulers: propose many plans by evolution, let a
// filter order them, measure the best few, learn from the answers, again. For evaluators whose answers are
// dear; where pricing a plan takes less than a microsecond, `solve` proves the optimum sooner.
//
// Rules `seed_honest`, fixed order. The same options, filter and answers give the same trials, however long
// the answers take and in whatever order they arrive.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "fuselage/oracle/evaluator.h"
#include "fuselage/oracle/tune_filter.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

struct Trial {
  std::int64_t number = 0;  // from 1
  walk::Plan plan = {};
  Measurement measured = {};

  double latency() const { return measured.latency.value_or(std::numeric_limits<double>::infinity()); }
};

struct TuneOptions {
  int trials = 64;
  int batch = 8;        // plans measured at once
  int proposals = 64;   // for every plan measured, if there is a filter
  int generations = 2;  // in which they are proposed, each from the best of those before
  std::uint64_t seed = 0;
  const std::atomic<bool>* cancel = nullptr;  // set by somebody else: stop soon
  // What is known of a trial already, from a former run. Error if it was another plan's.
  std::function<std::optional<Measurement>(std::int64_t number, const walk::Plan&)> recall = {};
  // Called for every trial that was not recalled, as soon as it is answered.
  std::function<void(const Trial&)> answered = {};
  // Called when a batch is complete.
  std::function<void(const std::vector<Trial>&)> progress = {};
};

// exhausted: no plan could be proposed that wasn't measured before.
enum class TuneStop : std::uint8_t { trials, exhausted, cancelled };

struct Tuned {
  std::vector<Trial> trials = {};        // by number; no plan twice
  std::optional<std::size_t> best = {};  // of them; none: all plans were bad
  TuneStop stop = TuneStop::trials;

  int failures() const;
  // Latency of the best of the first n trials; infinite if there is none.
  double best_of(std::size_t n) const;
};

// Without a filter plans are measured as they are proposed.
Tuned tune(const walk::EpisodeContext& context, Evaluator& evaluator, Filter* filter,
           const TuneOptions& options);

}  // namespace fuselage::oracle

// What stands between proposals and measurements: a filter puts proposed plans in an order by looking at them
// only, so that the few that are measured are worth it. One filter serves one workload.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuselage/learn/flat_trees.h"
#include "fuselage/learn/schedule_model.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/features.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

struct Candidate {
  walk::Plan plan = {};
  std::string key = {};              // equal for equal plans only
  double score = 0;                  // set once by Filter::rate; higher is better
  std::vector<float> features = {};  // likewise, if the filter has a use for them
};

// A candidate that was measured.
struct Seen {
  Candidate candidate = {};
  double latency = 0;  // infinite: a bad plan
};

class Filter {
 public:
  virtual ~Filter() = default;
  // Sets `score`, and `features` if need be, of candidates that are new.
  virtual void rate(std::span<Candidate> candidates) = 0;
  // In which order to measure them: the highest first. By default the score.
  virtual std::vector<double> order(std::span<const Candidate> candidates);
  // All that was measured so far, of which the last `fresh` are new.
  virtual void learn(std::span<const Seen> seen, std::size_t fresh);
};

// The rows of walk/features.h for plans of one workload. What is resident follows from the plan by the rules;
// nothing is priced. The context must outlive it.
class PlanTokens {
 public:
  explicit PlanTokens(const walk::EpisodeContext& context);

  std::size_t width() const;
  std::vector<float> workload() const;
  // Appends a row a node.
  void append(const walk::Plan& plan, std::vector<float>& rows) const;

 private:
  const walk::EpisodeContext& context_;
  walk::Features features_;
};

// Orders by a trained model. Both must outlive it.
class ModelFilter : public Filter {
 public:
  ModelFilter(const walk::EpisodeContext& context, const learn::ScheduleModel& model)
      : tokens_(context), model_(model) {}
  void rate(std::span<Candidate> candidates) override;

 protected:
  // Of the candidate whose rows these are.
  virtual void describe(std::span<const float> rows, Candidate& candidate) const;

 private:
  PlanTokens tokens_;
  const learn::ScheduleModel& model_;
};

// The same, together with a ranker that is trained anew on what was measured. How much each of the two counts
// it has to earn: by the pairs of fresh plans that it put in the right order before they were measured. So a
// model of another machine loses its say, and a ranker that has seen little has none.
class RefitFilter : public ModelFilter {
 public:
  RefitFilter(const walk::EpisodeContext& context, const learn::ScheduleModel& model, std::uint64_t seed)
      : ModelFilter(context, model), seed_(seed) {}
  std::vector<double> order(std::span<const Candidate> candidates) override;
  void learn(std::span<const Seen> seen, std::size_t fresh) override;

 protected:
  void describe(std::span<const float> rows, Candidate& candidate) const override;

 private:
  struct Record {  // of pairs
    double right = 0;
    double all = 0;
    double weight() const;
  };
  std::vector<double> ranked(std::span<const Candidate> candidates) const;
  void judge(std::span<const Seen> fresh);
  void refit(std::span<const Seen> seen);

  std::uint64_t seed_;
  std::optional<learn::FlatTrees> ranker_;
  std::size_t trained_on_ = 0;  // plans
  Record of_model_ = {.right = 8, .all = 10};
  Record of_ranker_ = {.right = 2, .all = 4};
};

}  // namespace fuselage::oracle

// The game that labelled states of the grid family are of: what an agent has read before an answer, and what
// the schedule is worth so far. Under the fusionops rules it is the environment's own; the contest has none,
// so that under mlsys the observation is a line of JSON of our own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/grid/episode.h"
#include "fuselage/grid/instance.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"

namespace fuselage::oracle {

// The contest's JSON in one line.
std::string problem_line(const grid::Instance& instance);

class GridBoard {
 public:
  // `naive`: what mlsys scores are measured against. The instance must outlive the board.
  GridBoard(const grid::Instance& instance, const grid::Rules& rules, int max_steps, double naive);
  void reset();

  // The step must be legal. `latency` is what it takes; fusionops finds out itself.
  void play(const grid::Kernel& step, double latency);

  // fusionops: without examples of valid actions, so that no answer is given away. mlsys: {"step",
  // "ops_done", "stored", "resident", "latency", "problem"}, in one line.
  std::string observation() const;
  int steps() const { return steps_; }
  int steps_left() const { return max_steps_ - steps_; }
  bool complete() const;
  bool done() const { return complete() || steps_left() <= 0; }
  double latency() const { return latency_; }
  double score() const { return score_of(latency_, complete()); }
  // Of a whole schedule: the environment's; under mlsys the part of the naive latency that it saves.
  double score_of(double latency, bool is_complete) const;

 private:
  void play_here(const grid::Kernel& step);

  const grid::Instance& instance_;
  int max_steps_;
  double naive_;
  std::optional<grid::Episode> episode_ = {};  // none: mlsys
  std::string problem_ = {};                   // mlsys
  int steps_ = 0;
  double latency_ = 0;
  std::vector<char> ran_ = {};     // mlsys, by op
  std::vector<char> stored_ = {};  // mlsys, by tensor
  std::vector<grid::TensorId> resident_ = {};
};

}  // namespace fuselage::oracle

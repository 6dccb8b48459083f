// Plays episodes of one grid problem, labels the states that they get into, and can say of every label which
// schedule it stands for. States are listed while episodes are played and labelled in the end, when all
// completions are known, so that all labels of a problem agree with each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/grid/problem.h"
#include "fuselage/oracle/label_grid.h"
#include "fuselage/search/split_mix.h"
#include "grid_board.h"
#include "grid_completions.h"

namespace fuselage::oracle {

class GridLabeller {
 public:
  // The instance must outlive it.
  GridLabeller(const std::string& name, const grid::Instance& instance, const grid::Rules& rules,
               const GridLabelOptions& options);

  // False if it was cancelled.
  bool run();

  // After run().
  const LabelledGraph& graph() const { return out_; }
  LabelledGraph take() { return std::move(out_); }
  // The steps that follow an answer of a state in the schedule that its label is about; none if the state has
  // no such answer.
  std::optional<std::vector<grid::Kernel>> steps_after(std::size_t state, const std::string& answer);
  std::vector<grid::Kernel> steps_after_episode(std::size_t episode);
  // The best schedule known.
  std::vector<grid::Kernel> best_steps() {
    return problem_.plan_of(completions_.plan(problem_.initial())).kernels;
  }

 private:
  // What may run next, and how it is written.
  struct Candidate {
    grid::GridKernel kernel = {};
    std::size_t place = 0;  // among the kernels of the state
    double price = 0;
    grid::State after = {};
    std::vector<grid::Kernel> steps = {};  // one, or two if a step without ops comes first

    bool drops() const { return steps.size() == 2; }
  };
  // Where an episode stands: after `path`, and perhaps a step without ops. Then it goes on with a kernel of
  // `state` that pays only after such a step.
  struct Position {
    grid::State state = {};  // that `path` leads to
    std::vector<grid::GridKernel> path = {};
    bool dropped = false;
  };
  struct Visit {
    Position at;
    int steps = 0;     // played before it
    double spent = 0;  // by these
    std::size_t episode = 0;
    std::string observation = {};
    std::vector<Candidate> candidates = {};
    std::optional<std::size_t> dropped = {};  // the visit after the step without ops
    std::size_t taken = 0;                    // of the candidates, by the episode
  };
  struct Move {
    std::size_t visit = 0;
    std::size_t candidate = 0;
  };
  struct Played {
    std::vector<Move> moves = {};  // an answer each
    Position end = {};
    double spent = 0;
  };
  struct Label {
    const Candidate* candidate = nullptr;  // that the schedule goes on with
    bool drops = false;                    // after a step without ops, which is the answer
    LabelledAnswer answer = {};
    search::Proof proof = search::Proof::none;
  };

  // grid_labeller.cpp: what is played.
  bool cancelled() const { return options_.cancel && options_.cancel->load(); }
  void describe(const std::string& name);
  void search();
  void play(const VisitPolicy& policy);
  // What the policy goes on with whatever it is worth, after `path`.
  std::optional<grid::GridKernel> scripted(const VisitPolicy& policy, const Position& at) const;
  // The visit of where the episode stands, with `wanted` among its candidates; none: too few steps are left.
  std::optional<std::size_t> visit(const Position& at, const std::optional<grid::GridKernel>& wanted);
  bool has_time(const Position& at);
  void list(Visit& visit, const std::optional<grid::GridKernel>& wanted);
  // By what they may cost, the most promising first.
  std::vector<Candidate> by_guess(const Visit& visit, const std::optional<grid::GridKernel>& wanted);
  // False: after a step without ops, for a kernel that doesn't need it.
  bool write_steps(const Visit& visit, Candidate& candidate) const;
  // Its place among the candidates; none: as write_steps.
  std::optional<std::size_t> add(Visit& visit, const grid::GridKernel& kernel);
  std::size_t choose(const Visit& visit, const VisitPolicy& policy);
  double cost(const Candidate& candidate) { return candidate.price + completions_.known(candidate.after); }

  // grid_labels.cpp: what that is worth.
  void settle();
  bool add_best(Visit& visit);
  void label();
  LabelledState state_of(const Visit& visit);
  std::vector<Label> labels_of(const Visit& visit);
  Label plain_label(const Candidate& candidate);
  std::optional<Label> dropping_label(const Visit& visit);
  Label label_of(const Visit& visit, std::size_t candidate);
  double value_at(const Visit& visit);
  Value value_of(const grid::State& state, double price, double rest) const;
  search::Proof proof_of(const Value& value, const grid::State& state, bool is_least);
  void finish(LabelledEpisode& episode, const Played& played);

  const grid::Instance& instance_;
  GridLabelOptions options_;
  grid::Rules rules_;
  grid::GridProblem problem_;
  Completions completions_;
  int max_steps_;
  search::SplitMix random_;
  std::vector<grid::GridKernel> greedy_;
  std::vector<grid::GridKernel> naive_;
  std::optional<GridBoard> board_;
  std::vector<grid::GridKernel> kernels_;
  std::map<std::string, std::size_t> known_;  // visits by what is observed, and what was dropped
  std::vector<Visit> visits_;                 // as out_.states
  std::vector<Played> played_;                // as out_.episodes
  bool played_optimal_ = false;
  double rounding_ = 0;  // time units: less than this is no difference
  LabelledGraph out_;
};

}  // namespace fuselage::oracle

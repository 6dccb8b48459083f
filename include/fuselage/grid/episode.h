// The game of the environment fusionops-env: an agent writes one step of the schedule at a time, as text, is
// paid for it and reads what became of it. Rewards, penalties and scores are the environment's to the bit
// under `fusionops`; `fusionops_honest` keeps the accounting and closes its loopholes: what no step stored
// can't be loaded, and the game isn't won before every graph output is stored. Observations are our own
// words. An Episode is a plain value: copy it to look ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/grid/fusionops.h"
#include "fuselage/grid/plan.h"
#include "fuselage/grid/rules.h"

namespace fuselage::grid {

// Reads an action such as "SCHEDULE ops=[0,1] config=[128,128,32] retain=[2] traversal=[0,1,3,2]" as the
// environment does, from bytes of any kind and in linear time. Each field is the first match in the text,
// wherever it stands, whatever is around it; white space may stand around '=' and numbers.
//
// - ops, needed: a list in brackets, in which empty entries don't count, or else digits, commas and white
//   space after the '='. Nothing, a parse error, if it is missing or holds anything but integers.
// - config: two or three integers (k is 1 if it is left out). Missing or anything else: native w and h, k 1.
// - retain: a list as for ops. Missing or anything else: empty.
// - traversal: a list without empty entries. Missing, empty or anything else: none.
//
// Integers are Python's: a sign, single underscores between digits, at most 4300 digits. Ids beyond 32 bits
// and other numbers beyond 64 become the nearest that there is. White space and digits are ASCII's.
std::optional<Kernel> parse_step(std::string_view text, const Machine& machine);

// The action's text, which reads back as the same step.
std::string step_text(const Kernel& step);

struct EpisodeOptions {
  RuleSet rules = RuleSet::fusionops;  // or fusionops_honest
  int max_steps = 20;                  // steps that count: all but those with a parse error
  bool allow_recomputation = true;
};

struct StepResult {
  double reward = 0;
  bool done = false;
  bool counted = false;                 // as a step, and in the return
  std::optional<StepCost> cost = {};    // of a valid step
  std::optional<StepError> error = {};  // of any other
};

class Episode {
 public:
  // The instance must outlive the episode. Throws Error for mlsys, which has no episodes, and for max_steps
  // below 1.
  explicit Episode(const Instance& instance, const EpisodeOptions& options = {});
  void reset();

  // After the end nothing happens: reward 0, done.
  StepResult step(std::string_view text);
  StepResult step(const Kernel& action);

  bool done() const { return done_; }
  // Every op ran; under the honest rules every graph output is stored too.
  bool complete() const;
  int steps() const { return steps_; }
  int covered_ops() const { return covered_; }
  std::vector<OpId> covered() const;  // ascending
  std::vector<OpId> ready() const;    // did not run yet, and all that make their inputs did; ascending
  std::vector<TensorId> fast_memory() const;
  std::int64_t fast_memory_used() const;  // elements
  std::vector<TensorId> unstored_outputs()
      const;  // honest only: graph outputs that were made, but not stored
  const StepState& state() const { return state_; }
  const Plan& plan() const { return plan_; }  // the valid steps
  double total_latency() const { return total_latency_; }
  double naive_latency() const { return naive_latency_; }
  double return_sum() const { return return_sum_; }  // of the rewards that count
  double score() const;
  std::optional<double> readme_score() const;
  const Instance& instance() const { return *instance_; }
  const EpisodeOptions& options() const { return options_; }
  StepRules step_rules() const;

  // For an agent to read: what became of its last action, what is left to do, what fits, and what it may
  // answer. With examples: up to four actions that would be valid now.
  std::string observation(bool with_examples = true) const;

 private:
  StepResult refuse(StepError error, bool counts);
  StepResult accept(const Kernel& action, const StepCost& cost);
  FusionopsTotals totals() const;

  const Instance* instance_;
  EpisodeOptions options_;
  double naive_latency_ = 0;
  StepState state_;
  Plan plan_ = {};
  int steps_ = 0;
  int covered_ = 0;
  double total_latency_ = 0;
  double return_sum_ = 0;
  bool done_ = false;
  std::optional<StepResult> last_ = {};
  Kernel last_action_ = {};  // unless it didn't parse
};

}  // namespace fuselage::grid

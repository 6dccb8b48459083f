// Pairs of observations of the walk family's environment that differ in one fact, with the proven optimal
// actions of both: what a model must answer differently, and what it must not, if it reads the fact rather
// than something that goes along with it. Both worlds are in the same state after the same actions, and their
// texts differ in the fields that state the fact and nowhere else.
//
// - uses      how often one tensor will still be read. The reader that is added or removed lies beyond the
//             lookahead, so that one number of future_uses is all that changes.
// - edge      whether the current node, or one of the lookahead, reads a tensor: its inputs and the tensor's
//             future_uses.
// - capacity  bytes of fast memory.
// - depth     the most ops that a kernel may have.
//
// Bandwidth and launch cost are no facts here: the text doesn't show them, so both texts would be the same.
//
// An edit keeps the order of the graph. An edge is added or removed only where ops keep as many inputs as
// they can have in the environment's graphs: one for reductions and pointwise ops, one or two for matmul,
// conv2d and add. greedy_baseline follows from graph and machine and may change with them; a pair is clean if
// it is the same in both texts.
//
// Optimal sets hold canonical actions (values.h), ties kept. Sets that differ, but whose actions lose nothing
// in the other world (say because one names a tensor that nobody reads there) are refused.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

enum class FactKind : std::uint8_t { uses, capacity, depth, edge };
inline constexpr std::array<std::string_view, 4> fact_names = {"uses", "capacity", "depth", "edge"};
constexpr std::string_view name(FactKind kind) {
  return fact_names[static_cast<std::size_t>(kind)];
}

struct Fact {
  FactKind kind = FactKind::uses;
  std::string what;         // the field that states it: "future_uses.3", "capacity", "edge 3 -> 7"
  std::int64_t before = 0;  // uses, bytes or nodes; for an edge 1 if it is there
  std::int64_t after = 0;
  std::string edit;  // what was done to the workload: "add edge 3 -> 17"
};

// Of the two optimal sets.
enum class Difference : std::uint8_t { disjoint, overlapping, same };
inline constexpr std::array<std::string_view, 3> difference_names = {"disjoint", "overlapping", "same"};
constexpr std::string_view name(Difference difference) {
  return difference_names[static_cast<std::size_t>(difference)];
}

// What is known of the state in one of the two workloads. All values are proven.
struct CounterfactualWorld {
  Workload workload;
  std::string prompt;                 // Episode::observation()
  double spent = 0;                   // cycles of the kernels that are complete
  double value = 0;                   // least cycles to come
  std::vector<walk::Action> optimal;  // canonical order
  std::vector<double> q = {};         // of Counterfactual::actions, as the environment plays them here
  double loss = 0;        // cycles: the least that an optimal action of the other world loses here
  double worst_loss = 0;  // the most
  bool refuses = false;   // does the environment refuse, or trim, every one of those?

  double relative_loss() const { return spent + value > 0 ? loss / (spent + value) : 0; }
};

struct Counterfactual {
  Fact fact = {};
  Difference difference = Difference::same;
  std::vector<walk::Action> prefix = {};         // from the beginning to the state
  std::vector<walk::Action> actions = {};        // canonical in either world, those of the first one first
  std::vector<std::string> changed_fields = {};  // of the observation, sorted
  CounterfactualWorld a;                         // as the workload is given
  CounterfactualWorld b;

  // Does the text differ in the fact alone?
  bool is_clean() const;
  // Sets that differ: does it cost cycles, in one of the worlds, to choose by the other one? Of disjoint sets
  // whatever one chooses from them.
  bool is_real() const {
    return difference == Difference::disjoint ? a.loss > 0 || b.loss > 0
                                              : a.worst_loss > 0 || b.worst_loss > 0;
  }
};

struct CounterfactualOptions {
  walk::Rules rules = walk::Rules::seed_honest;  // or seed
  bool clean = false;                            // refuse all others
  int episodes = 4;                              // whose states are used: from optimal play to random
  std::uint64_t seed = 0;
  Budget budget = {};  // of one search
};

// What came of one draw of a state and an edit.
enum class Attempt : std::uint8_t {
  pair,
  no_edit,       // the state, or the order of the graph, has none of this kind
  repeated,      // drawn before
  other_fields,  // the texts differ in more, or less, than the fact; or the prefix isn't legal in both
  unproven,      // a value isn't proven within the budget
  conventions,   // the sets differ, but no optimal action of one world loses anything in the other
};
inline constexpr std::array<std::string_view, 6> attempt_names = {"pairs",        "no_edit",  "repeated",
                                                                  "other_fields", "unproven", "conventions"};

// Of one workload. The same options give the same pairs.
class CounterfactualSearch {
 public:
  CounterfactualSearch(const Workload& workload, const CounterfactualOptions& options);
  ~CounterfactualSearch();

  // One try. `pair` is set if and only if that is the answer.
  Attempt attempt(FactKind kind, std::optional<Counterfactual>& pair);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Where two observations differ, as paths, sorted: "future_uses.3", "lookahead[1].inputs". Lists of numbers
// count as one field.
std::vector<std::string> changed_fields(std::string_view observation_a, std::string_view observation_b);

// What a row says beside the pair.
struct CounterfactualOrigin {
  std::string id;
  std::int64_t graph_seed = -1;  // of the drawn graph; -1: it was given
  double level = -1;             // of the curriculum, likewise
  walk::Rules rules = walk::Rules::seed_honest;
};

// A line of JSON, with its end. Every row has every key.
std::string to_json_line(const Counterfactual& pair, const CounterfactualOrigin& origin);

}  // namespace fuselage::oracle

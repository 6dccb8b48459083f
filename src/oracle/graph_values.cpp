#include "fuselage/oracle/graph_values.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "fuselage/core/error.h"
#include "fuselage/search/exact.h"

namespace fuselage::oracle {
namespace {

using walk::Episode;
using walk::Kernel;
using walk::State;
using walk::WalkProblem;

// The problem from a state on whose first kernel has more than so many nodes.
class Grown {
 public:
  using State = walk::State;
  using Kernel = walk::Kernel;

  Grown(const WalkProblem& problem, State start, int count)
      : problem_(problem), start_(std::move(start)), count_(count) {}

  State initial() const { return start_; }
  int horizon() const { return problem_.horizon(); }
  int progress(const State& s) const { return problem_.progress(s); }
  bool kernels(const State& s, std::vector<Kernel>& out) const {
    const bool complete = problem_.kernels(s, out);
    if (s.position == start_.position) std::erase_if(out, [&](const Kernel& k) { return k.count <= count_; });
    return complete;
  }
  double price(const State& s, const Kernel& k) const { return problem_.price(s, k); }
  State apply(const State& s, const Kernel& k) const { return problem_.apply(s, k); }
  double bound(const State& s) const { return problem_.bound(s); }
  std::uint64_t key(const State& s) const { return problem_.key(s); }
  std::uint64_t dominance_class(const State& s) const { return problem_.dominance_class(s); }
  std::uint64_t dominance_mask(const State& s) const { return problem_.dominance_mask(s); }
  bool dominates(const State& a, double cost_a, const State& b, double cost_b) const {
    return problem_.dominates(a, cost_a, b, cost_b);
  }

 private:
  const WalkProblem& problem_;
  State start_;
  int count_;
};

Value value_of(const search::Outcome<State, Kernel>& outcome) {
  const bool proven = outcome.proof == search::Proof::optimal || outcome.infeasible;
  return {
      .cycles = outcome.cost, .proven = proven, .lower_bound = std::min(outcome.lower_bound, outcome.cost)};
}

Value plus(Value value, double cycles) {
  value.cycles += cycles;
  value.lower_bound += cycles;
  return value;
}

// The lesser; proven only if both are.
Value lesser(const Value& a, const Value& b) {
  return {.cycles = std::min(a.cycles, b.cycles),
          .proven = a.proven && b.proven,
          .lower_bound = std::min(a.lower_bound, b.lower_bound)};
}

State state_at(int position, std::span<const NodeId> resident) {
  State state;
  state.position = position;
  state.resident.assign(resident.begin(), resident.end());
  std::sort(state.resident.begin(), state.resident.end());
  return state;
}

}  // namespace

struct GraphValues::Memory {
  struct Known {
    State state;
    int count;  // 0: closed; else the length of the group that must grow
    Value value;
  };
  std::unordered_map<std::uint64_t, std::vector<Known>> known;

  // By how much two questions about one state differ.
  static std::uint64_t key(std::uint64_t of_state, int count) {
    return of_state ^ (static_cast<std::uint64_t>(count) * 0x9e3779b97f4a7c15ULL);
  }
  template <class Find>
  Value of(const WalkProblem& problem, State state, int count, const Find& find) {
    auto& bucket = known[key(problem.key(state), count)];
    for (const Known& one : bucket)
      if (one.count == count && one.state == state) return one.value;
    const Value value = find(state);
    bucket.push_back({std::move(state), count, value});
    return value;
  }
};

GraphValues::GraphValues(const walk::EpisodeContext& context, walk::Rules rules, const Budget& budget)
    : context_(context),
      rules_(rules),
      budget_(budget),
      problem_(context.graph(), context.hardware(), context.runs(), {.rules = rules}),
      memory_(std::make_unique<Memory>()),
      after_(context, {.rules = rules}),
      ending_(after_) {}

GraphValues::~GraphValues() = default;

bool GraphValues::is_cut_off(const Episode& episode) const {
  return episode.max_steps() - episode.steps() < context_.graph().size() - episode.position();
}

Budget GraphValues::allowed() const {
  if (!deadline_) return budget_;
  const double left = std::chrono::duration<double>(*deadline_ - std::chrono::steady_clock::now()).count();
  if (left <= 0) fail("the values of this state take longer than is allowed; expected a smaller graph");
  Budget budget = budget_;
  budget.wall_seconds = std::min(budget.wall_seconds, left);
  return budget;
}

Value GraphValues::closed(int position, std::span<const NodeId> resident) {
  if (position >= context_.graph().size()) return {.cycles = 0, .proven = true, .lower_bound = 0};
  return memory_->of(problem_, state_at(position, resident), 0, [&](const State& state) {
    ++searches_;
    const auto outcome = search::exact(problem_, {.budget = allowed()}, state);
    allowed();
    return value_of(outcome);
  });
}

Value GraphValues::grown(const Episode& episode) {
  const walk::OpenGroup& group = episode.group();
  constexpr double never = std::numeric_limits<double>::infinity();
  constexpr Value impossible = {.cycles = never, .proven = true, .lower_bound = never};
  if (context_.runs().longest(group.first) <= group.count) return impossible;
  return memory_->of(
      problem_, state_at(group.first, episode.resident()), group.count, [&](const State& state) {
        ++searches_;
        const auto value_in = [&](const WalkProblem& problem, const State& start) {
          const auto outcome = search::exact(Grown(problem, start, group.count), {.budget = allowed()});
          allowed();
          return value_of(outcome);
        };
        if (!may_fail_on_purpose(episode)) return value_in(problem_, state);
        const WalkProblem from_here(episode);
        return value_in(from_here, from_here.initial());
      });
}

// A resident that dies at the last node of a group can be named until the group is invalid when it closes, so
// that its members run alone. That never pays for a group that could begin anew, so the graph's problem
// doesn't declare it; for one that is open it may, and the episode's problem does.
bool GraphValues::may_fail_on_purpose(const Episode& episode) const {
  const int end = episode.group().first + context_.runs().longest(episode.group().first);
  return std::any_of(episode.resident().begin(), episode.resident().end(), [&](NodeId x) {
    const int last = context_.runs().last_use(x);
    return last >= episode.position() && last < end;
  });
}

Value GraphValues::value(const Episode& episode) {
  if (episode.done()) return {.cycles = 0, .proven = true, .lower_bound = 0};
  if (is_cut_off(episode)) return value_to_go(episode, allowed());
  if (episode.group().count == 0) return closed(episode.position(), episode.resident());
  ending_ = episode;
  ending_.close_group();
  const double paid = ending_.total_latency() - episode.total_latency();
  return lesser(plus(closed(ending_.position(), ending_.resident()), paid), grown(episode));
}

StateLabels GraphValues::labels(const Episode& episode) {
  StateLabels labels{.value = value(episode), .actions = {}};
  if (episode.done()) return labels;
  if (is_cut_off(episode)) {
    for (walk::Action& action : canonical_actions(episode, allowed())) {
      const Value q = q_value(episode, action, allowed());
      labels.actions.push_back({std::move(action), q});
    }
    return labels;
  }
  double least = std::numeric_limits<double>::infinity();
  for (walk::Action& action : declared_actions(episode)) {
    after_ = episode;
    after_.step(action);
    const Value q = plus(value(after_), after_.total_latency() - episode.total_latency());
    least = std::min(least, q.cycles);
    labels.actions.push_back({std::move(action), q});
  }
  // `seed`: an optimal action may name tensors that nobody would retain.
  if (!meets(labels.value.cycles, least)) {
    walk::Action best = optimal_action(episode, allowed());
    labels.actions.push_back({std::move(best), labels.value});
  }
  return labels;
}

}  // namespace fuselage::oracle

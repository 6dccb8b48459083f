#include "fuselage/oracle/counterfactuals.h"

#include <algorithm>
#include <map>
#include <set>

#include "counterfactuals_compare.h"
#include "counterfactuals_edit.h"

namespace fuselage::oracle {

using walk::Action;
using walk::Episode;

namespace {

const std::string baseline_field = "greedy_baseline";

}  // namespace

bool Counterfactual::is_clean() const {
  return !std::binary_search(changed_fields.begin(), changed_fields.end(), baseline_field);
}

struct CounterfactualSearch::Parts {
  struct State {
    Episode episode;
    std::vector<Action> prefix;
    JudgedState judged;
  };

  CounterfactualOptions options;
  search::SplitMix random;
  JudgedWorkload given;
  std::vector<State> states;
  std::map<Edit, std::unique_ptr<JudgedWorkload>> others;  // null: the order would be another
  std::set<std::pair<std::size_t, Edit>> tried;

  Parts(const Workload& workload, const CounterfactualOptions& chosen)
      : options(chosen), random(chosen.seed), given(workload, chosen) {
    for (int i = 0; i < options.episodes; ++i)
      play(options.episodes > 1 ? static_cast<double>(i) / (options.episodes - 1) : 0);
  }

  // An episode whose actions are random with this probability, and optimal otherwise.
  void play(double astray) {
    Episode episode(given.context, {.rules = options.rules});
    std::vector<Action> prefix;
    while (!episode.done()) {
      std::optional<JudgedState> judged = judge(given, episode);
      if (!judged) return;
      const std::vector<Action>& choice = random.unit() < astray ? judged->canonical : judged->optimal;
      const Action action = choice[random.below(choice.size())];
      states.push_back({episode, prefix, *std::move(judged)});
      episode.step(action);
      prefix.push_back(action);
    }
  }

  JudgedWorkload* other(const Edit& edit) {
    const auto [found, is_new] = others.try_emplace(edit);
    if (is_new)
      if (const auto workload = edited(given.workload(), edit))
        found->second = std::make_unique<JudgedWorkload>(*workload, options);
    return found->second.get();
  }

  // Are these the fields that state the fact, with the baseline if it may differ?
  bool is_the_fact_alone(const std::vector<std::string>& changed, std::vector<std::string> stating) const {
    if (!options.clean && std::binary_search(changed.begin(), changed.end(), baseline_field))
      stating.insert(std::lower_bound(stating.begin(), stating.end(), baseline_field), baseline_field);
    return changed == stating;
  }

  Attempt attempt(FactKind kind, std::optional<Counterfactual>& pair);
};

Attempt CounterfactualSearch::Parts::attempt(FactKind kind, std::optional<Counterfactual>& pair) {
  pair.reset();
  if (states.empty()) return Attempt::unproven;
  const std::size_t index = random.below(states.size());
  const State& state = states[index];
  const std::optional<Edit> edit = draw_edit(state.episode, kind, random);
  if (!edit) return Attempt::no_edit;
  JudgedWorkload* const workload = other(*edit);
  if (workload == nullptr) return Attempt::no_edit;
  if (!tried.insert({index, *edit}).second) return Attempt::repeated;

  const std::optional<Episode> episode = replayed(*workload, options.rules, state.prefix);
  if (!episode || !is_the_fact_alone(changed_fields(state.episode.observation(), episode->observation()),
                                     stating_fields(state.episode, kind, *edit)))
    return Attempt::other_fields;
  const std::optional<JudgedState> judged = judge(*workload, *episode);
  if (!judged) return Attempt::unproven;
  auto found = compared({given, state.episode, state.judged}, {*workload, *episode, *judged});
  if (!found) return Attempt::unproven;
  if (found->difference != Difference::same && !found->is_real()) return Attempt::conventions;
  found->fact = fact_of(state.episode, kind, *edit);
  found->prefix = state.prefix;
  pair = std::move(found);
  return Attempt::pair;
}

CounterfactualSearch::CounterfactualSearch(const Workload& workload, const CounterfactualOptions& options)
    : parts_(std::make_unique<Parts>(workload, options)) {}

CounterfactualSearch::~CounterfactualSearch() = default;

Attempt CounterfactualSearch::attempt(FactKind kind, std::optional<Counterfactual>& pair) {
  return parts_->attempt(kind, pair);
}

}  // namespace fuselage::oracle

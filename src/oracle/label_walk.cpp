#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>

#include "fuselage/core/cost.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/graph_values.h"
#include "fuselage/oracle/labelled_graph.h"
#include "fuselage/oracle/policy_player.h"
#include "fuselage/oracle/samplers.h"
#include "fuselage/oracle/trajectories.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

constexpr double rounding =
    same_cost;  // of the whole episode's optimum: sums of other orders are no difference

bool is_fixed_task(const std::string& hash) {
  static const std::set<std::string> hashes = [] {
    std::set<std::string> all;
    for (const walk::TaskSpec& task : walk::tasks()) all.insert(graph_hash(walk::make_task(task).graph));
    return all;
  }();
  return hashes.contains(hash);
}

search::Proof proof_of(bool proven) {
  return proven ? search::Proof::optimal : search::Proof::none;
}

// How much a data set would rather show this one of several optimal answers: lower is better.
std::array<int, 2> awkwardness(const Action& action) {
  return {static_cast<int>(action.retain.size()), action.tile != walk::default_tile};
}

// Plays episodes of one graph, and labels each state when it is first met.
class WalkLabeller {
 public:
  WalkLabeller(const Workload& workload, const LabelOptions& options)
      : workload_(workload),
        options_(options),
        context_(workload),
        values_(context_, options.rules, options.budget),
        random_(options.seed),
        episode_(context_, {.rules = options.rules}) {
    out_.name = workload.name;
    out_.hash = graph_hash(workload.graph);
    out_.graph = workload_to_json_line(workload);
    out_.is_fixed_task = is_fixed_task(out_.hash);
    out_.seed = options.seed;
    out_.ops = workload.graph.size();
    out_.greedy = context_.greedy_latency();
    out_.naive = context_.naive_latency();
    out_.optimum = values_.value(episode_);
    out_.proof = proof_of(out_.optimum.proven);
    scale_ = out_.optimum.cycles;
    if (out_.greedy > 0)
      out_.optimum_score = std::clamp((out_.greedy - scale_) / out_.greedy / 0.2, -1.0, 1.0);
  }

  LabelledGraph finish() { return std::move(out_); }

  void play_policy(const VisitPolicy& policy) {
    begin(policy.name);
    switch (policy.kind) {
      case VisitKind::optimal:
      case VisitKind::erring:
        play([&](std::size_t state) { return good_answer(state, policy); });
        if (policy.kind == VisitKind::optimal) played_optimal_ = true;
        return;
      case VisitKind::random: {
        Samplers samplers(context_, random_);
        const std::vector<Action> actions = samplers.random_legal();
        play([&](std::size_t) { return actions[static_cast<std::size_t>(episode_.steps())]; });
        return;
      }
      case VisitKind::reference: {
        const PolicyPlayer player(workload_, find_policy(policy.reference));
        play([&](std::size_t) { return player.act(episode_); });
        return;
      }
    }
  }

  void play_answers(const PlayedEpisode& played) {
    begin(played.policy);
    for (const std::string& answer : played.answers) {
      if (episode_.done()) break;
      if (const std::optional<Action> action = walk::parse_answer(answer)) step(visit(), *action);
    }
    end();
  }

 private:
  void begin(std::string policy) {
    out_.episodes.push_back({.policy = std::move(policy), .answers = {}, .regrets = {}});
    episode_.reset();
  }

  void end() {
    LabelledEpisode& episode = out_.episodes.back();
    episode.complete = episode_.done();
    episode.score = episode_.score();
    const Value rest = values_.value(episode_);
    episode.latency = episode_.total_latency() + rest.cycles;
    episode.proof = std::min({episode.proof, proof_of(rest.proven), out_.proof});
  }

  template <class Choose>
  void play(const Choose& choose) {
    while (!episode_.done()) {
      const std::size_t state = visit();
      step(state, choose(state));
    }
    end();
  }

  // The state that the episode is in. What the open kernel retains is not observed, but closing it costs and
  // leaves something else with another list, so it tells two states apart.
  std::size_t visit() {
    observation_.clear();
    episode_.observe(observation_);
    key_ = observation_;
    if (episode_.group().count > 0) {
      retained_ = episode_.group().retain;
      std::sort(retained_.begin(), retained_.end());
      for (NodeId x : retained_) key_ += fmt::format(",{}", x);
    }
    const auto [at, is_new] = known_.try_emplace(key_, out_.states.size());
    if (is_new) label();
    return at->second;
  }

  void label() {
    StateLabels labels = values_.labels(episode_);
    LabelledState state{.episode = out_.episodes.size() - 1,
                        .step = episode_.steps(),
                        .node = episode_.current_node(),
                        .observation = observation_,
                        .spent = episode_.total_latency(),
                        .value = labels.value,
                        .answers = {},
                        .taken = {}};
    bool proven = labels.value.proven;
    double least = std::numeric_limits<double>::infinity();
    for (const ActionValue& action : labels.actions) least = std::min(least, action.value.cycles);
    std::array<int, 2> best = {std::numeric_limits<int>::max(), 0};
    for (const auto& [action, q] : labels.actions) {
      const bool optimal = q.cycles - least <= rounding * scale_;
      if (optimal && awkwardness(action) < best) {
        best = awkwardness(action);
        state.best = state.answers.size();
      }
      proven = proven && q.proven;
      state.answers.push_back({.text = walk::answer_text(action), .q = q, .optimal = optimal});
    }
    state.proof = proof_of(proven);
    out_.states.push_back(std::move(state));
    actions_.push_back(std::move(labels.actions));
  }

  Action good_answer(std::size_t state, const VisitPolicy& policy) {
    const std::vector<ActionValue>& actions = actions_[state];
    if (policy.kind == VisitKind::erring && random_.unit() < policy.epsilon)
      return actions[random_.below(actions.size())].action;
    const LabelledState& labels = out_.states[state];
    // The first time as the data set shows it; then any of the optimal ones, to see more states.
    if (policy.kind == VisitKind::optimal && !played_optimal_) return actions[labels.best].action;
    std::vector<std::size_t> ties;
    for (std::size_t i = 0; i < actions.size(); ++i)
      if (labels.answers[i].optimal) ties.push_back(i);
    return actions[ties[random_.below(ties.size())]].action;
  }

  void step(std::size_t at, const Action& action) {
    const double spent = episode_.total_latency();
    episode_.step(action);
    LabelledAnswer taken{.text = walk::answer_text(action), .q = values_.value(episode_)};
    const double paid = episode_.total_latency() - spent;
    taken.q.cycles += paid;
    taken.q.lower_bound += paid;
    const LabelledState& state = out_.states[at];
    const double regret = taken.q.cycles - state.answers[state.best].q.cycles;
    taken.optimal = regret <= rounding * scale_;
    out_.episodes.back().answers.push_back(taken.text);
    out_.episodes.back().regrets.push_back(taken.optimal ? 0 : regret);
    search::Proof& proof = out_.episodes.back().proof;
    proof = std::min({proof, state.proof, proof_of(taken.q.proven)});
    LabelledState& labelled = out_.states[at];
    if (!labelled.taken.text.empty()) return;
    labelled.proof = std::min(labelled.proof, proof_of(taken.q.proven));
    labelled.taken = std::move(taken);
  }

  const Workload& workload_;
  const LabelOptions& options_;
  walk::EpisodeContext context_;
  GraphValues values_;
  search::SplitMix random_;
  Episode episode_;
  std::string observation_;
  std::string key_;
  std::vector<NodeId> retained_;
  std::unordered_map<std::string, std::size_t> known_;  // states by observation and open kernel's retain list
  std::vector<std::vector<ActionValue>> actions_;       // by state, in the order of its answers
  bool played_optimal_ = false;
  double scale_ = 0;  // cycles
  LabelledGraph out_;
};

}  // namespace

std::optional<LabelledGraph> label_walk(const Workload& workload, const LabelOptions& options,
                                        const std::vector<PlayedEpisode>& played) {
  WalkLabeller labeller(workload, options);
  const auto cancelled = [&] { return options.budget.cancel && *options.budget.cancel; };
  for (const PlayedEpisode& episode : played) {
    if (cancelled()) return std::nullopt;
    labeller.play_answers(episode);
  }
  search::SplitMix random(options.seed ^ 0x9ddfea08eb382d69ULL);
  for (int i = 0; i < options.episodes && !options.mix.empty(); ++i) {
    if (cancelled()) return std::nullopt;
    labeller.play_policy(draw_policy(options.mix, random));
  }
  if (cancelled()) return std::nullopt;
  return labeller.finish();
}

}  // namespace fuselage::oracle

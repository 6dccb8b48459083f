#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/oracle/audit_games.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/episode.h"

namespace fuselage::oracle::audit {
namespace {

using walk::Rules;

enum : std::size_t { fuse_field, tile_field, retain_field };

walk::Action action_of(const Move& move) {
  walk::Action action{.fuse_with_prev = move.fields[fuse_field].front() != 0,
                      .tile = static_cast<int>(move.fields[tile_field].front()),
                      .retain = {}};
  for (const std::int64_t id : move.fields[retain_field]) action.retain.push_back(static_cast<NodeId>(id));
  return action;
}

Move move_of(const walk::Action& action) {
  return {.fields = {
              {action.fuse_with_prev ? 1 : 0}, {action.tile}, {action.retain.begin(), action.retain.end()}}};
}

Line line_of(const std::vector<walk::Action>& actions) {
  Line line;
  for (const walk::Action& action : actions) line.push_back(move_of(action));
  return line;
}

std::vector<walk::Action> actions_of(std::span<const Move> moves) {
  std::vector<walk::Action> actions;
  for (const Move& move : moves)
    if (!move.unreadable) actions.push_back(action_of(move));
  return actions;
}

class WalkEpisode : public Episode {
 public:
  WalkEpisode(const walk::EpisodeContext& context, Rules rules, int max_steps)
      : episode_(context, {.rules = rules, .max_steps = max_steps}) {}

  Reply step(const Move& move) override {
    if (move.unreadable)
      return {.reward = walk::parse_error_reward, .done = episode_.done(), .counted = false};
    retain_.assign(move.fields[retain_field].begin(), move.fields[retain_field].end());
    const walk::StepResult result = episode_.step(walk::ActionView(
        move.fields[fuse_field].front() != 0, static_cast<int>(move.fields[tile_field].front()), retain_));
    return {.reward = result.reward, .done = result.done};
  }
  Standing standing() const override {
    return {.latency = episode_.total_latency(),
            .score = episode_.score(),
            .work = episode_.position(),
            .done = episode_.done(),
            .complete = episode_.done() && episode_.position() == episode_.context().graph().size()};
  }

 private:
  walk::Episode episode_;
  std::vector<NodeId> retain_;
};

// The kernels that ran as a plan of physical: what fell back runs op by op, and every kernel retains what was
// resident after it and is read later.
walk::Plan physical_plan(const Graph& graph, const walk::Plan& plan, const Simulation& simulation) {
  std::vector<int> uses;
  for (NodeId id = 0; id < graph.size(); ++id) uses.push_back(graph.uses(id));
  walk::Plan physical;
  std::vector<NodeId> resident;
  const auto add = [&](walk::PlanKernel kernel) {
    for (const NodeId node : kernel.nodes)
      for (const NodeId input : graph.inputs(node)) --uses[static_cast<std::size_t>(input)];
    for (const NodeId id : resident)
      if (uses[static_cast<std::size_t>(id)] > 0) kernel.retain.push_back(id);
    physical.push_back(std::move(kernel));
  };
  for (std::size_t i = 0; i < simulation.kernels.size(); ++i) {
    const KernelReport& report = simulation.kernels[i];
    if (report.fallback) {
      for (const NodeId node : plan[i].nodes)
        add({.nodes = {node}, .tile = walk::default_tile, .retain = {}});
      continue;
    }
    resident = report.resident_after;
    add({.nodes = plan[i].nodes, .tile = plan[i].tile, .retain = {}});
  }
  return physical;
}

class WalkGame : public Game {
 public:
  WalkGame(const Workload& workload, Rules rules, const GameOptions& options)
      : context_(workload), workload_(workload), rules_(rules) {
    if (rules == Rules::physical) fail("rules: physical has no episodes; expected seed or seed-honest");
    const std::int64_t n = workload.graph.size();
    form_ = {{.name = "fuse_with_prev", .kind = FieldKind::choice, .values = {0, 1}},
             {.name = "tile",
              .kind = FieldKind::choice,
              .values = {walk::tiles.begin(), walk::tiles.end()},
              .odd = {0, 1, -32, 33, 100, 512, 1 << 30}},
             {.name = "retain", .kind = FieldKind::set, .values = {}, .odd = {-1, n, n + 1'000'000}}};
    for (std::int64_t id = 0; id < n; ++id) form_[retain_field].values.push_back(id);
    add_constants();
    for (const Rules one : {Rules::seed, Rules::seed_honest, Rules::physical})
      if (one >= rules) add_rules(one, options);
  }

  std::string name() const override { return workload_.name; }
  std::string family() const override { return "walk"; }
  std::string rules() const override { return std::string(walk::name(rules_)); }
  int ops() const override { return workload_.graph.size(); }
  int max_steps() const override { return workload_.graph.size(); }
  const std::vector<Field>& form() const override { return form_; }
  Move plain() const override { return move_of({}); }
  std::unique_ptr<Episode> start(int max_steps) const override {
    return std::make_unique<WalkEpisode>(context_, rules_, max_steps);
  }
  std::string text(const Move& move) const override {
    return move.unreadable ? "[0]" : walk::answer_text(action_of(move));
  }
  std::vector<Line> openings() const override { return openings_; }
  const std::vector<Judge>& judges() const override { return judges_; }

 private:
  void add_constants() {
    for (const int tile : walk::tiles)
      for (const bool fuse : {false, true})
        openings_.push_back(Line(static_cast<std::size_t>(ops()),
                                 move_of({.fuse_with_prev = fuse, .tile = tile, .retain = {}})));
  }

  void add_rules(Rules rules, const GameOptions& options) {
    SolveOptions solving{.rules = rules};
    solving.budget.steps = options.solve_steps;
    solving.budget.cancel = options.cancel;
    const Solution solution = solve(workload_, solving);
    Judge judge{.name = std::string(walk::name(rules)),
                .verdict = [this, rules](std::span<const Move> moves) { return verdict(moves, rules); }};
    if (solution.found) {
      judge.best = {.latency = solution.latency, .proven = solution.proof == search::Proof::optimal};
      openings_.push_back(line_of(walk::actions_of(solution.plan)));
    }
    judges_.push_back(std::move(judge));
  }

  Verdict verdict(std::span<const Move> moves, Rules rules) const {
    const Graph& graph = workload_.graph;
    walk::Plan plan = play(context_, rules_, actions_of(moves));
    Simulation simulation;
    if (rules == Rules::physical) {
      simulation = simulate(graph, workload_.hardware, plan, {.rules = rules_});
      plan = physical_plan(graph, plan, simulation);
    }
    simulation = simulate(graph, workload_.hardware, plan, {.rules = rules});
    Verdict verdict{.latency = simulation.latency};
    if (simulation.fault)
      verdict.breaches.push_back(
          {.code = std::string(oracle::name(simulation.fault->code)), .message = simulation.fault->message});
    return verdict;
  }

  walk::EpisodeContext context_;
  Workload workload_;
  Rules rules_;
  std::vector<Field> form_;
  std::vector<Line> openings_;
  std::vector<Judge> judges_;
};

}  // namespace

std::unique_ptr<Game> make_walk_game(const Workload& workload, Rules rules, const GameOptions& options) {
  return std::make_unique<WalkGame>(workload, rules, options);
}

}  // namespace fuselage::oracle::audit

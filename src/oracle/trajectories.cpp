#include "fuselage/oracle/trajectories.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/samplers.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/values.h"
#include "fuselage/walk/features.h"
#include "fuselage/walk/generator.h"
#include "fuselage/walk/memory_bound.h"

namespace fuselage::oracle {
namespace {

using learn::Sampler;
using learn::Trajectory;
using walk::Action;
using walk::Plan;
using walk::PlanKernel;
using walk::Rules;

constexpr std::uint64_t proof_steps = 500'000;  // kernels priced for the optimum
constexpr std::uint64_t regret_steps = 50'000;  // the same for the value of one state
constexpr int tries = 20;                       // for a schedule that is not there yet

// The sampler of schedule i of n: one optimal, three eighths of the rest mutated, as many heuristic.
Sampler sampler_of(int i, int n) {
  if (i == 0) return Sampler::optimal;
  const int part = (i - 1) * 8 / std::max(1, n - 1);
  return part < 3 ? Sampler::mutated : part < 6 ? Sampler::heuristic : Sampler::random;
}

// Turns plans of one workload into rows.
class Recorder {
 public:
  explicit Recorder(const walk::EpisodeContext& context)
      : context_(context), features_(context.graph(), context.hardware(), context.runs()) {}

  const walk::Features& features() const { return features_; }

  // None for a plan in which a kernel falls back to its members: it has no prefix costs.
  std::optional<Trajectory> record(const Plan& plan) const;
  std::vector<double> regrets(const Plan& plan) const;

 private:
  void add_kernel(const PlanKernel& kernel, std::span<const NodeId> resident, Trajectory& out) const;
  double latency(const walk::KernelView& kernel, std::span<const NodeId> resident) const;

  const walk::EpisodeContext& context_;
  walk::Features features_;
};

// The roofline of a kernel's beginning as if it were a kernel: a target for prefixes. Whether it would fit
// isn't asked, only whole kernels have to.
double Recorder::latency(const walk::KernelView& kernel, std::span<const NodeId> resident) const {
  const walk::RunTable& runs = context_.runs();
  const Graph& graph = context_.graph();
  const Hardware& hardware = context_.hardware();
  const walk::Run& run = runs.run(kernel.first, kernel.count);
  const auto holds = [](std::span<const NodeId> ids, NodeId x) {
    return std::find(ids.begin(), ids.end(), x) != ids.end();
  };
  std::int64_t load = 0, store = 0;
  for (NodeId x : runs.inputs(run))
    if (!holds(resident, x) || runs.uses_from(x, run.end()) == 0) load += graph.bytes(x);
  for (NodeId x : runs.outputs(run))
    if (!holds(kernel.retain, x)) store += graph.bytes(x);
  const double memory = hardware.transfer_cycles(load) + hardware.transfer_cycles(store);
  return std::max(run.cycles[static_cast<std::size_t>(kernel.tile)], memory) + hardware.kernel_launch_cost;
}

void Recorder::add_kernel(const PlanKernel& kernel, std::span<const NodeId> resident, Trajectory& out) const {
  const std::size_t token_width = walk::token_schema().size();
  const std::size_t state_width = walk::state_schema().size();
  const auto count = static_cast<int>(kernel.nodes.size());
  const walk::KernelView view = {.first = context_.graph().position(kernel.nodes[0]),
                                 .count = count,
                                 .tile = walk::tile_index(kernel.tile),
                                 .retain = kernel.retain};
  const std::size_t tokens = out.tokens.size();
  out.tokens.resize(tokens + token_width * kernel.nodes.size());
  features_.tokens(view, resident, std::span(out.tokens).subspan(tokens));
  const double before = out.prefix_cost.empty() ? 0 : out.prefix_cost.back();
  const std::int32_t number = out.kernel.empty() ? 0 : out.kernel.back() + 1;
  for (int i = 0; i < count; ++i) {
    const std::size_t states = out.states.size();
    out.states.resize(states + state_width);
    features_.state({.position = view.first + i, .open = i, .resident = resident},
                    std::span(out.states).subspan(states));
    walk::KernelView part = view;
    part.count = i + 1;
    out.kernel.push_back(number);
    out.prefix_cost.push_back(before + latency(part, resident));
  }
}

std::optional<Trajectory> Recorder::record(const Plan& plan) const {
  const Simulation checked =
      simulate(context_.graph(), context_.hardware(), plan, {.rules = Rules::seed_honest});
  if (checked.fault) fail("the plan is illegal: {}", checked.fault->message);
  Trajectory one;
  std::span<const NodeId> resident;
  for (std::size_t k = 0; k < plan.size(); ++k) {
    const KernelReport& report = checked.kernels[k];
    if (report.fallback) return std::nullopt;
    add_kernel(plan[k], resident, one);
    double& total = one.prefix_cost.back();
    if (!agree(total, report.total))
      throw std::logic_error(
          fmt::format("kernel {}: the recorder finds {} cycles, simulate {}", k, total, report.total));
    total = report.total;
    resident = report.resident_after;
  }
  const std::size_t states = one.states.size();
  one.states.resize(states + walk::state_schema().size());
  features_.state({.position = context_.graph().size(), .open = 0, .resident = resident},
                  std::span(one.states).subspan(states));
  one.latency = checked.latency;
  one.prefix_cost.back() = one.latency;
  return one;
}

// By action: by how much the least latency of the whole episode rises with it.
std::vector<double> Recorder::regrets(const Plan& plan) const {
  const Budget budget = {.steps = regret_steps};
  walk::Episode episode(context_, {.rules = Rules::seed_honest});
  Value before = value_to_go(episode, budget);
  std::vector<double> regrets;
  for (const Action& action : walk::actions_of(plan)) {
    const double spent = episode.total_latency();
    episode.step(action);
    const Value after = value_to_go(episode, budget);
    const double regret = episode.total_latency() - spent + after.cycles - before.cycles;
    const bool proven = before.proven && after.proven;
    regrets.push_back(!proven ? learn::unproven_regret : regret > same_cost * before.cycles ? regret : 0);
    before = after;
  }
  return regrets;
}

// Schedules of one workload, one after the other.
class Drawing {
 public:
  Drawing(const Workload& workload, const TrajectoryOptions& options)
      : options_(options),
        context_(workload),
        random_(options.seed),
        samplers_(context_, random_),
        recorder_(context_),
        best_(solve(workload, {.rules = Rules::seed_honest, .budget = {.steps = proof_steps}})) {}

  std::optional<DrawnSchedules> all(const Workload& workload) {
    if (!best_.found) return std::nullopt;
    DrawnSchedules drawn;
    learn::TrajectoryGroup& group = drawn.group;
    group = {.graph_hash = graph_hash(workload.graph),
             .name = workload.name,
             .mean_cycles = recorder_.features().mean_cycles(),
             .best = best_.latency,
             .proven = best_.proof == search::Proof::optimal};
    group.split = learn::split_of(group.graph_hash);
    group.workload.resize(walk::workload_schema().size());
    recorder_.features().workload(group.workload);
    for (int i = 0; i < options_.schedules; ++i) draw(sampler_of(i, options_.schedules), drawn);
    if (group.schedules.size() < 2) return std::nullopt;
    return drawn;
  }

 private:
  Plan plan_of(Sampler sampler) {
    constexpr std::array epsilons = {0.05, 0.15, 0.3, 0.5};
    std::vector<Action> actions;
    switch (sampler) {
      case Sampler::optimal:
        return best_.plan;
      case Sampler::mutated:
        actions = samplers_.mutated(best_.plan);
        break;
      case Sampler::heuristic:
        actions = samplers_.heuristic(epsilons[random_.below(epsilons.size())]);
        break;
      case Sampler::random:
        actions = samplers_.random_legal();
        break;
    }
    return play(context_, Rules::seed_honest, actions);
  }

  void draw(Sampler sampler, DrawnSchedules& drawn) {
    for (int attempt = 0; attempt < (sampler == Sampler::optimal ? 1 : tries); ++attempt) {
      Plan plan = plan_of(sampler);
      if (!seen_.insert(key_of(plan)).second) continue;
      std::optional<Trajectory> one = recorder_.record(plan);
      if (!one) continue;
      one->sampler = sampler;
      if (options_.regret) one->regret = recorder_.regrets(plan);
      drawn.group.schedules.push_back(std::move(*one));
      drawn.plans.push_back(std::move(plan));
      return;
    }
  }

  TrajectoryOptions options_;
  walk::EpisodeContext context_;
  search::SplitMix random_;
  Samplers samplers_;
  Recorder recorder_;
  Solution best_;
  std::set<std::string> seen_;
};

}  // namespace

Workload draw_workload(const DrawOptions& options, std::uint64_t seed) {
  if (options.min_ops < 1 || options.max_ops < options.min_ops || options.max_ops > walk::max_generated_ops)
    fail("ops: {}-{} is out of range; expected 1 <= low <= high <= {}", options.min_ops, options.max_ops,
         walk::max_generated_ops);
  PythonRandom random(seed);
  const int ops = static_cast<int>(random.randint(options.min_ops, options.max_ops));
  const std::int64_t side = random.choice(std::array<std::int64_t, 3>{128, 256, 512});
  const auto difficulty = static_cast<walk::Difficulty>(random.below(walk::difficulty_names.size()));
  Workload workload =
      options.kind == GraphKind::memory_bound
          ? walk::generate_memory_bound({.num_ops = ops, .side = side}, random)
          : walk::generate({.num_ops = ops, .difficulty = difficulty, .height = side, .width = side}, random);
  workload.name += fmt::format("_t{}", seed);
  return workload;
}

std::string graph_hash(const Graph& graph) {
  Sha256 hash;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::string text = fmt::format("{} {} {} {} {}:", name(node.op), node.height, node.width,
                                   json_number(node.flops), node.output_bytes);
    for (NodeId x : node.inputs) text += fmt::format(" {}", graph.position(x));
    hash.update(text + "\n");
  }
  return hash.hex_digest();
}

std::optional<DrawnSchedules> draw_schedules(const Workload& workload, const TrajectoryOptions& options) {
  if (options.schedules < 2)
    fail("schedules: {} is too few; expected 2 or more: one alone can't be compared", options.schedules);
  Drawing drawing(workload, options);
  return drawing.all(workload);
}

std::optional<learn::TrajectoryGroup> trajectories(const Workload& workload,
                                                   const TrajectoryOptions& options) {
  std::optional<DrawnSchedules> drawn = draw_schedules(workload, options);
  if (!drawn) return std::nullopt;
  return std::move(drawn->group);
}

std::optional<learn::Trajectory> trajectory_of(const walk::EpisodeContext& context, const Plan& plan) {
  return Recorder(context).record(plan);
}

learn::TrajectorySchemas walk_schemas() {
  return {.token = walk::token_schema(), .state = walk::state_schema(), .workload = walk::workload_schema()};
}

}  // namespace fuselage::oracle

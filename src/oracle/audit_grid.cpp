#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/shapes.h"
#include "fuselage/oracle/audit_games.h"
#include "fuselage/oracle/grid_solve.h"

namespace fuselage::oracle::audit {
namespace {

using grid::Instance;
using grid::Kernel;
using grid::RuleSet;

enum : std::size_t { ops_field, width_field, height_field, k_field, retain_field, traversal_field };

Kernel kernel_of(const Move& move) {
  Kernel kernel;
  for (const std::int64_t id : move.fields[ops_field]) kernel.ops.push_back(static_cast<grid::OpId>(id));
  kernel.granularity = {.w = move.fields[width_field].front(),
                        .h = move.fields[height_field].front(),
                        .k = move.fields[k_field].front()};
  for (const std::int64_t id : move.fields[retain_field])
    kernel.retain.push_back(static_cast<grid::TensorId>(id));
  if (!move.fields[traversal_field].empty()) kernel.traversal = move.fields[traversal_field];
  return kernel;
}

Move move_of(const Kernel& kernel) {
  return {.fields = {{kernel.ops.begin(), kernel.ops.end()},
                     {kernel.granularity.w},
                     {kernel.granularity.h},
                     {kernel.granularity.k},
                     {kernel.retain.begin(), kernel.retain.end()},
                     kernel.traversal.value_or(std::vector<std::int64_t>{})}};
}

Line line_of(const grid::Plan& plan) {
  Line line;
  for (const Kernel& kernel : plan.kernels) line.push_back(move_of(kernel));
  return line;
}

class GridEpisode : public Episode {
 public:
  GridEpisode(const Instance& instance, RuleSet rules, int max_steps)
      : episode_(instance, {.rules = rules, .max_steps = max_steps}) {}

  Reply step(const Move& move) override {
    const grid::StepResult result = move.unreadable ? episode_.step("") : episode_.step(kernel_of(move));
    return {.reward = result.reward, .done = result.done, .counted = result.counted};
  }
  Standing standing() const override {
    return {.latency = episode_.total_latency(),
            .score = episode_.score(),
            .work = episode_.covered_ops() - static_cast<int>(episode_.unstored_outputs().size()),
            .done = episode_.done(),
            .complete = episode_.complete()};
  }
  const grid::Plan& plan() const { return episode_.plan(); }

 private:
  grid::Episode episode_;
};

// Largest width and height over all outputs of the step: its grid.
grid::Tensor extent(const Instance& instance, const Kernel& kernel) {
  grid::Tensor extent;
  for (const grid::OpId id : kernel.ops) {
    for (const grid::TensorId output : instance.op(id).outputs) {
      extent.width = std::max(extent.width, instance.tensor(output).width);
      extent.height = std::max(extent.height, instance.tensor(output).height);
    }
  }
  return extent;
}

// How many native tiles the kernel's tile covers, as far as there is something to cover.
double native_tiles(const Instance& instance, const Kernel& kernel) {
  const grid::Tensor whole = extent(instance, kernel);
  const grid::Machine& machine = instance.machine();
  const auto along = [](std::int64_t tile, std::int64_t all, std::int64_t native) {
    const std::int64_t covered = std::max<std::int64_t>(1, std::min(tile, all));
    return static_cast<double>((covered - 1) / native + 1);
  };
  return along(kernel.granularity.w, whole.width, machine.native_width) *
         along(kernel.granularity.h, whole.height, machine.native_height);
}

// The same problem with ops that take `factor` times as long.
Instance slowed(const Instance& instance, double factor) {
  std::vector<grid::Op> ops(instance.ops().begin(), instance.ops().end());
  for (grid::Op& op : ops) op.base_cost *= factor;
  return {{instance.tensors().begin(), instance.tensors().end()}, std::move(ops), instance.machine()};
}

// Every step by the lax rules, so that all that the honest ones would refuse is found, not only the first.
Verdict honest_verdict(const Instance& instance, const grid::Plan& plan) {
  Verdict verdict;
  grid::StepState state(instance);
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const Kernel& kernel = plan.kernels[i];
    if (const auto error = grid::judge_step(instance, {.honest = true}, state, kernel).error)
      verdict.breaches.push_back({.code = std::string(grid::fault_name(grid::Fault::not_available)),
                                  .message = fmt::format("kernel {}: {}", i, error->message)});
    verdict.latency += grid::judge_step(instance, {}, state, kernel).cost.latency;
    grid::apply_step(instance, kernel, state);
  }
  for (grid::TensorId id = 0; id < instance.tensor_count(); ++id)
    if (instance.is_output(id) && !state.stored[static_cast<std::size_t>(id)])
      verdict.breaches.push_back({.code = std::string(grid::fault_name(grid::Fault::output_not_stored)),
                                  .message = fmt::format("graph output {} is never stored", id)});
  return verdict;
}

Verdict native_verdict(const Instance& instance, const grid::Plan& plan) {
  Verdict verdict;
  grid::StepState state(instance);
  for (const Kernel& kernel : plan.kernels) {
    const double factor = native_tiles(instance, kernel);
    const grid::StepJudgement judged = factor > 1
                                           ? grid::judge_step(slowed(instance, factor), {}, state, kernel)
                                           : grid::judge_step(instance, {}, state, kernel);
    verdict.latency += judged.cost.latency;
    grid::apply_step(instance, kernel, state);
  }
  return verdict;
}

Verdict own_verdict(const Instance& instance, const grid::Plan& plan, RuleSet rules) {
  const grid::Evaluation evaluation = grid::evaluate(instance, {.set = rules}, plan);
  Verdict verdict{.latency = evaluation.latency};
  if (evaluation.violation)
    verdict.breaches.push_back({.code = std::string(grid::fault_name(evaluation.violation->fault)),
                                .message = evaluation.violation->message});
  return verdict;
}

std::vector<std::int64_t> up_to(std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < count; ++id) ids.push_back(id);
  return ids;
}

// Halves and doubles of native, as far as there are elements.
std::vector<std::int64_t> sizes(std::int64_t native, std::int64_t most) {
  std::set<std::int64_t> sizes = {native, most};
  for (std::int64_t size = native; size > 1 && sizes.size() < 8; size /= 2) sizes.insert(size);
  for (std::int64_t size = native; size < most && sizes.size() < 16; size *= 2) sizes.insert(size * 2);
  return {sizes.begin(), sizes.end()};
}

class GridGame : public Game {
 public:
  GridGame(const GridSource& source, RuleSet rules, const GameOptions& options)
      : source_(source), rules_(rules) {
    if (rules == RuleSet::mlsys) fail("rules: mlsys has no episodes; expected fusionops or fusionops-honest");
    make_form();
    openings_.push_back(one_by_one());
    own_judge(options);
    // It refuses tensors that don't fit their op, which these rules take as they are.
    const bool is_sound = grid::shape_faults(source.instance).empty();
    if (rules == RuleSet::fusionops && is_sound) honest_judge(options);
    judges_.push_back({.name = "native tiles", .verdict = [this](std::span<const Move> moves) {
                         return native_verdict(source_.instance, plan_of(moves));
                       }});
  }

  std::string name() const override { return source_.name; }
  std::string family() const override { return "grid"; }
  std::string rules() const override { return std::string(grid::name(rules_)); }
  int ops() const override { return source_.instance.op_count(); }
  int max_steps() const override { return source_.max_steps; }
  const std::vector<Field>& form() const override { return form_; }
  Move plain() const override { return move_of({.ops = {}, .granularity = native()}); }
  std::unique_ptr<Episode> start(int max_steps) const override {
    return std::make_unique<GridEpisode>(source_.instance, rules_, max_steps);
  }
  std::string text(const Move& move) const override {
    return move.unreadable ? "nothing" : grid::step_text(kernel_of(move));
  }
  std::vector<Line> openings() const override { return openings_; }
  const std::vector<Judge>& judges() const override { return judges_; }

 private:
  grid::Granularity native() const {
    const grid::Machine& machine = source_.instance.machine();
    return {.w = machine.native_width, .h = machine.native_height, .k = 1};
  }

  void make_form() {
    const Instance& instance = source_.instance;
    const std::int64_t ops = instance.op_count(), tensors = instance.tensor_count();
    std::int64_t width = 1, height = 1;
    for (const grid::Tensor& tensor : instance.tensors()) {
      width = std::max(width, tensor.width);
      height = std::max(height, tensor.height);
    }
    const grid::Machine& machine = instance.machine();
    const auto side = [](const char* name, std::vector<std::int64_t> values) {
      return Field{.name = name, .kind = FieldKind::choice, .values = std::move(values), .odd = {-1, 0}};
    };
    form_ = {{.name = "ops", .kind = FieldKind::set, .values = up_to(ops), .odd = {-1, ops}},
             side("w", sizes(machine.native_width, width)),
             side("h", sizes(machine.native_height, height)),
             side("k", sizes(machine.native_width, width)),
             {.name = "retain", .kind = FieldKind::set, .values = up_to(tensors), .odd = {-1, tensors}},
             {.name = "traversal", .kind = FieldKind::sequence, .values = up_to(16), .odd = {-1, 1 << 20}}};
  }

  Line one_by_one() const {
    Line line;
    for (const grid::OpId id : source_.instance.order())
      line.push_back(move_of({.ops = {id}, .granularity = native()}));
    return line;
  }

  GridSolution solved(RuleSet rules, const GameOptions& options) {
    GridSolveOptions solving{.rules = {.set = rules}};
    solving.budget.steps = options.solve_steps;
    solving.budget.cancel = options.cancel;
    GridSolution solution = solve_grid(source_.instance, solving);
    openings_.push_back(line_of(solution.plan));
    return solution;
  }
  static Optimum optimum_of(const GridSolution& solution) {
    return {.latency = solution.latency, .proven = solution.proof == search::Proof::optimal};
  }

  void own_judge(const GameOptions& options) {
    judges_.push_back({.name = std::string(grid::name(rules_)),
                       .verdict =
                           [this](std::span<const Move> moves) {
                             return own_verdict(source_.instance, plan_of(moves), rules_);
                           },
                       .best = optimum_of(solved(rules_, options))});
  }
  void honest_judge(const GameOptions& options) {
    judges_.push_back(
        {.name = std::string(grid::name(RuleSet::fusionops_honest)),
         .verdict =
             [this](std::span<const Move> moves) { return honest_verdict(source_.instance, plan_of(moves)); },
         .best = optimum_of(solved(RuleSet::fusionops_honest, options))});
  }

  // The steps that were accepted.
  grid::Plan plan_of(std::span<const Move> moves) const {
    GridEpisode episode(source_.instance, rules_, source_.max_steps);
    for (const Move& move : moves) episode.step(move);
    return episode.plan();
  }

  GridSource source_;
  RuleSet rules_;
  std::vector<Field> form_;
  std::vector<Line> openings_;
  std::vector<Judge> judges_;
};

}  // namespace

std::unique_ptr<Game> make_grid_game(const GridSource& source, RuleSet rules, const GameOptions& options) {
  return std::make_unique<GridGame>(source, rules, options);
}

}  // namespace fuselage::oracle::audit

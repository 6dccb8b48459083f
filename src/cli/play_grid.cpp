#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/oracle/store_grid.h"
#include "play_game.h"
#include "report_cells.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr int usual_steps = 20;

int usual_steps_of(const GridTarget& target) {
  const grid::FusionopsTask* task = target.is_task ? grid::find_fusionops_task(target.name) : nullptr;
  return task ? task->max_steps : std::max(usual_steps, 2 * target.instance.op_count());
}

class GridGame : public Game {
 public:
  GridGame(const GridTarget& target, const GameOptions& options)
      : instance_(target.instance),
        rules_{.set = std::get<grid::RuleSet>(options.rules)},
        examples_(options.examples),
        episode_(target.instance, {.rules = rules_.set,
                                   .max_steps = options.max_steps.value_or(usual_steps_of(target)),
                                   .allow_recomputation = options.allow_recomputation}) {}

  std::string observation() const override { return episode_.observation(examples_); }

  PlayedStep step(std::string_view action) override {
    const grid::StepResult result = episode_.step(action);
    PlayedStep step{.reward = result.reward, .done = result.done, .counted = result.counted};
    step.text = text_of(result);
    step.info = info(result);
    return step;
  }

  Standing standing() const override {
    return {.steps = episode_.steps(),
            .max_steps = episode_.options().max_steps,
            .ops_run = episode_.covered_ops(),
            .ops = instance_.op_count(),
            .done = episode_.done(),
            .complete = episode_.complete(),
            .latency = episode_.total_latency(),
            .naive_latency = episode_.naive_latency(),
            .return_sum = episode_.return_sum()};
  }

  // None where some op fits fast memory at no granularity.
  std::optional<double> greedy_latency() const override {
    try {
      return oracle::solve_grid(instance_, {.rules = rules_, .engine = oracle::Engine::greedy}).latency;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::string score_text() const override {
    const auto saving = episode_.readme_score();
    return fmt::format("score {:.4f}{}", episode_.score(),
                       saving ? fmt::format(", as the environment's README counts {:.4f}", *saving) : "");
  }
  nlohmann::ordered_json scores() const override {
    return {{"score", episode_.score()}, {"readme_score", number_or_null(episode_.readme_score())}};
  }
  std::string store_key() const override { return oracle::store_key(instance_, rules_); }

 private:
  std::string text_of(const grid::StepResult& result) const {
    if (const auto& cost = result.cost)
      return fmt::format("latency {}, {} so far", cycles(cost->latency), cycles(episode_.total_latency()));
    const grid::StepError& error = *result.error;
    return fmt::format("refused, {}: {}{}", grid::step_error_class_name(grid::step_error_class(error.fault)),
                       error.message, result.counted ? "" : "; no step was used");
  }

  nlohmann::ordered_json info(const grid::StepResult& result) const {
    const auto& cost = result.cost;
    nlohmann::ordered_json json = {{"error", nullptr},
                                   {"error_class", nullptr},
                                   {"latency", nullptr},
                                   {"working_set", nullptr},
                                   {"tiles", nullptr},
                                   {"k_steps", nullptr},
                                   {"total_latency", episode_.total_latency()},
                                   {"covered", episode_.covered()},
                                   {"fast_memory", episode_.fast_memory()}};
    if (cost) {
      json["latency"] = cost->latency;
      json["working_set"] = cost->working_set;
      json["tiles"] = cost->tiles;
      json["k_steps"] = cost->k_steps;
    } else {
      json["error"] = result.error->message;
      json["error_class"] = grid::step_error_class_name(grid::step_error_class(result.error->fault));
    }
    return json;
  }

  const grid::Instance& instance_;
  grid::Rules rules_;
  bool examples_;
  grid::Episode episode_;
};

}  // namespace

std::unique_ptr<Game> make_grid_game(const GridTarget& target, const GameOptions& options) {
  if (std::get<grid::RuleSet>(options.rules) == grid::RuleSet::mlsys)
    fail("--rules: mlsys has no episodes; expected fusionops or fusionops-honest");
  check_grid_shapes(target, {.set = std::get<grid::RuleSet>(options.rules)});
  return std::make_unique<GridGame>(target, options);
}

}  // namespace fuselage::cli

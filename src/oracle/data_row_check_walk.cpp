#include <cmath>
#include <limits>
#include <span>

#include "data_row_check.h"
#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/graph_values.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/answer.h"

namespace fuselage::oracle {
namespace {

using walk::Action;
using walk::Episode;

constexpr double tolerance = 1e-9;  // relative

bool same(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

walk::Rules rules_of(const JsonField& row) {
  const JsonField field = row.required("rules");
  const auto rules = walk::parse_rules(field.string());
  if (!rules || *rules == walk::Rules::physical)
    field.refuse(quote(field.string()) + " has no episodes", "seed or seed-honest");
  return *rules;
}

Action action_of(const std::string& text) {
  const std::optional<Action> action = walk::parse_answer(text);
  if (!action) fail("{} is no answer", quote(text));
  return *action;
}

class WalkCheck : public GraphCheck {
 public:
  WalkCheck(const JsonField& row, const Budget& budget)
      : context_(workload_of(row)), rules_(rules_of(row)), values_(context_, rules_, budget) {
    const JsonField field = row.required("episodes");
    const std::string source = field.source() + ": " + field.path();
    const Json list = parse_json(field.string(), source);
    const JsonField episodes(list, source);
    for (std::size_t i = 0; i < episodes.array_size(); ++i) {
      const JsonField episode = episodes.element(i);
      const JsonField actions = episode.required("actions");
      played_.emplace_back();
      for (std::size_t k = 0; k < actions.array_size(); ++k)
        played_.back().push_back(action_of(actions.element(k).string()));
    }
  }

  std::optional<std::string> fault_of(RowFormat format, const JsonField& row) override {
    if (format == RowFormat::graphs) {
      const std::vector<Action> none;
      return fault_of_claim(none, "the optimum", row.required("optimum").number());
    }
    const JsonField id_field = row.required("id");
    const std::optional<RowId> id = parse_row_id(id_field.string());
    if (!id || id->episode >= played_.size() ||
        static_cast<std::size_t>(id->step) > played_[id->episode].size())
      id_field.refuse(quote(id_field.string()) + " is no state of the graph's episodes",
                      "GRAPH.EPISODE.STEP");
    prefix_.assign(played_[id->episode].begin(), played_[id->episode].begin() + id->step);
    Episode episode = after(prefix_);
    const std::string observation = episode.observation();
    const std::string& prompt = prompt_of(row, format);
    if (!prompt.ends_with(observation))
      return fmt::format("the prompt is not the observation after {} answers, {}", id->step,
                         quote(observation));
    return format == RowFormat::prm ? fault_of_episode(row) : fault_of_labels(format, row);
  }

 private:
  static Workload workload_of(const JsonField& row) {
    const JsonField field = row.required("graph_json");
    const std::string source = field.source() + ": " + field.path();
    std::vector<Workload> workloads = read_workloads(field.string(), source);
    if (workloads.size() != 1) field.refuse("holds several graphs", "one");
    return std::move(workloads.front());
  }

  Episode after(std::span<const Action> actions) const {
    Episode episode(context_, {.rules = rules_});
    for (const Action& action : actions) episode.step(action);
    return episode;
  }

  // Best answers to the end.
  void finish(std::vector<Action>& actions) {
    Episode episode = after(actions);
    while (!episode.done()) {
      const StateLabels labels = values_.labels(episode);
      const ActionValue* best = &labels.actions.front();
      for (const ActionValue& action : labels.actions)
        if (action.value.cycles < best->value.cycles) best = &action;
      actions.push_back(best->action);
      episode.step(best->action);
    }
  }

  std::optional<std::string> fault_of_claim(std::vector<Action> actions, std::string_view what,
                                            double latency) {
    finish(actions);
    const Simulation simulation =
        simulate(context_.graph(), context_.hardware(), play(context_, rules_, actions), {.rules = rules_});
    if (!simulation.legal())
      return fmt::format("{}: makes an illegal schedule: {}", what, simulation.fault->message);
    if (same(simulation.latency, latency)) return std::nullopt;
    return fmt::format("{}: the row says a latency of {}, simulate finds {}", what, latency,
                       simulation.latency);
  }

  std::optional<std::string> fault_of_answer(const std::string& text, double latency) {
    std::vector<Action> actions = prefix_;
    actions.push_back(action_of(text));
    return fault_of_claim(std::move(actions), quote(text), latency);
  }

  std::optional<std::string> fault_of_labels(RowFormat format, const JsonField& row) {
    const double latency = row.required("latency").number();
    switch (format) {
      case RowFormat::sft: {
        const JsonField messages = row.required("messages");
        return fault_of_answer(messages.value().back().at("content").get<std::string>(), latency);
      }
      case RowFormat::prompt_completion:
        return fault_of_answer(answer_of(row, "completion"), latency);
      case RowFormat::dpo: {
        auto fault = fault_of_answer(answer_of(row, "chosen"), latency);
        if (fault) return fault;
        return fault_of_answer(answer_of(row, "rejected"), latency + row.required("q_difference").number());
      }
      case RowFormat::kto:
        return fault_of_answer(answer_of(row, "completion"), latency + row.required("q_difference").number());
      default:
        return fault_of_advantages(row, latency);
    }
  }

  // raw and grpo: the first, the last and the best of all answers.
  std::optional<std::string> fault_of_advantages(const JsonField& row, double latency) {
    const JsonField answers = row.required("answers");
    const JsonField advantages = row.required("advantage");
    if (answers.array_size() == 0 || answers.array_size() != advantages.array_size())
      advantages.refuse(fmt::format("has {} entries", advantages.array_size()),
                        fmt::format("one for each of the {} answers", answers.array_size()));
    std::size_t best = 0;
    for (std::size_t i = 0; i < answers.array_size(); ++i)
      if (advantages.element(i).number() > advantages.element(best).number()) best = i;
    for (std::size_t i : {std::size_t{0}, best, answers.array_size() - 1}) {
      auto fault = fault_of_answer(answers.element(i).string(), latency - advantages.element(i).number());
      if (fault) return fault;
    }
    return std::nullopt;
  }

  std::optional<std::string> fault_of_episode(const JsonField& row) {
    const JsonField completions = row.required("completions");
    const JsonField regrets = row.required("regrets");
    std::vector<Action> actions;
    double lost = 0;
    for (std::size_t i = 0; i < completions.array_size(); ++i) {
      actions.push_back(action_of(completions.element(i).string()));
      lost += regrets.element(i).number();
    }
    const double latency = row.required("latency").number();
    if (!same(row.required("optimum").number() + lost, latency))
      return fmt::format("optimum and regrets add up to {}, the latency is {}",
                         row.required("optimum").number() + lost, latency);
    return fault_of_claim(std::move(actions), "the episode", latency);
  }

  walk::EpisodeContext context_;
  walk::Rules rules_;
  GraphValues values_;
  std::vector<std::vector<Action>> played_;  // by episode
  std::vector<Action> prefix_;               // of the row that is checked
};

}  // namespace

std::unique_ptr<GraphCheck> walk_check(const JsonField& graph_row, const Budget& budget) {
  return std::make_unique<WalkCheck>(graph_row, budget);
}

}  // namespace fuselage::oracle

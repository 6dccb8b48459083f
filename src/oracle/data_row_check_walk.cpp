#include <cmath>
#include <limits>
#include <span>

#include "data_row_check.h"
#include "fuselage/core/cost.h"
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

constexpr double tolerance = same_cost;  // relative

bool same(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

walk::Rules rules_of(const JsonField& row) {
  const JsonField field = row.required("rules");
  const auto rules = walk::parse_rules(field.string());
  if (!rules || *rules == walk::Rules::physical) field.refuse("has no episodes", "seed or seed-honest");
  return *rules;
}

bool is_proven(const JsonField& row) {
  return row.required("proof").string() == search::name(search::Proof::optimal);
}

Action action_of(const std::string& text) {
  const std::optional<Action> action = walk::parse_answer(text);
  if (!action) fail("{} is no answer", quote(text));
  return *action;
}

class WalkCheck : public GraphCheck {
 public:
  WalkCheck(const JsonField& row, const CheckOptions& options)
      : context_(workload_of(row)),
        rules_(rules_of(row)),
        values_(context_, rules_, options.budget),
        system_(options.system) {
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
    proven_ = is_proven(row);
    if (format == RowFormat::graphs)
      return fault_of_claim({}, "the optimum", row.required("optimum").number());
    const JsonField id_field = row.required("id");
    const std::optional<RowId> id = parse_row_id(id_field.string());
    if (!id || id->episode >= played_.size() ||
        static_cast<std::size_t>(id->step) > played_[id->episode].size())
      id_field.refuse("is no state of the graph's episodes", "GRAPH.EPISODE.STEP");
    prefix_.assign(played_[id->episode].begin(), played_[id->episode].begin() + id->step);
    const Episode episode = after(prefix_);
    spent_ = episode.total_latency();
    const std::string observation = episode.observation();
    if (observation_of(row, format, system_) != observation)
      return fmt::format("the prompt is not the observation after {} answers, {}", id->step,
                         quote(observation));
    if (format == RowFormat::prm) return fault_of_episode(row, played_[id->episode]);
    auto fault = fault_of_claim(prefix_, "the state", row.required("latency").number());
    return fault ? fault : fault_of_labels(format, row);
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

  // That the episode takes `latency` if best answers follow. A latency that isn't proven may be more than
  // what is found here, or less (of a larger budget), but not less than is possible.
  std::optional<std::string> fault_of_claim(std::vector<Action> actions, std::string_view what,
                                            double latency) {
    if (!proven_) {
      const Episode episode = after(actions);
      const double least = episode.total_latency() + values_.value(episode).lower_bound;
      if (latency >= least * (1 - tolerance)) return std::nullopt;
      return fmt::format("{}: the row says a latency of {}, no less than {} is possible", what, latency,
                         least);
    }
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

  // That two figures of a row agree; `scale` is of what they are differences of.
  static std::optional<std::string> fault_of_sum(std::string_view what, double says, double expected,
                                                 double scale) {
    if (std::abs(says - expected) <= tolerance * scale) return std::nullopt;
    return fmt::format("{}: the row says {}, its other figures make it {}", what, says, expected);
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
      case RowFormat::dpo:
        return fault_of_pair(row, latency);
      case RowFormat::kto: {
        const double lost = row.required("q_difference").number(0);
        if (row.required("label").boolean() != (lost == 0))
          return fmt::format("the label is {}, the answer loses {}", lost != 0, lost);
        auto fault = fault_of_sum("q", row.required("q").number(), latency - spent_ + lost, latency);
        return fault ? fault : fault_of_answer(answer_of(row, "completion"), latency + lost);
      }
      case RowFormat::raw: {
        auto fault = fault_of_values(row, latency);
        return fault ? fault : fault_of_advantages(row, latency);
      }
      default:
        return fault_of_advantages(row, latency);
    }
  }

  std::optional<std::string> fault_of_pair(const JsonField& row, double latency) {
    const double chosen = row.required("q_chosen").number();
    const double rejected = row.required("q_rejected").number();
    const double lost = row.required("q_difference").number(0);
    auto fault = fault_of_sum("q_chosen", chosen, latency - spent_, latency);
    if (!fault) fault = fault_of_sum("q_rejected", rejected, chosen + lost, latency);
    if (!fault) fault = fault_of_answer(answer_of(row, "chosen"), latency);
    return fault ? fault : fault_of_answer(answer_of(row, "rejected"), latency + lost);
  }

  // raw: what stands beside the answers, and the answers' figures among each other.
  std::optional<std::string> fault_of_values(const JsonField& row, double latency) {
    auto fault = fault_of_sum("spent", row.required("spent").number(), spent_, latency);
    const double value = row.required("value_to_go").number();
    if (!fault && proven_) fault = fault_of_sum("value_to_go", value, latency - spent_, latency);
    const JsonField q = row.required("q");
    const JsonField advantage = row.required("advantage");
    const JsonField optimal = row.required("optimal");
    const std::size_t count = row.required("answers").array_size();
    for (const JsonField& list : {q, advantage, optimal, row.required("proven")})
      if (list.array_size() != count)
        list.refuse(fmt::format("has {} entries", list.array_size()),
                    fmt::format("one for each of the {} answers", count));
    for (std::size_t i = 0; i < count && !fault; ++i) {
      const double lost = -advantage.element(i).number();
      fault = fault_of_sum("q", q.element(i).number(), latency - spent_ + lost, latency);
      if (!fault && optimal.element(i).boolean() != (lost == 0))
        return fmt::format("optimal: {} of an answer that loses {}", lost != 0, lost);
    }
    if (!fault) fault = fault_of_answer(row.required("best").string(), latency);
    return fault ? fault
                 : fault_of_answer(row.required("taken").string(), spent_ + row.required("taken_q").number());
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

  std::optional<std::string> fault_of_episode(const JsonField& row, const std::vector<Action>& played) {
    const JsonField completions = row.required("completions");
    const JsonField regrets = row.required("regrets");
    const JsonField labels = row.required("labels");
    for (const JsonField& list : {completions, regrets, labels})
      if (list.array_size() != played.size())
        list.refuse(fmt::format("has {} entries", list.array_size()),
                    fmt::format("one for each of the episode's {} answers", played.size()));
    double lost = 0;
    for (std::size_t i = 0; i < played.size(); ++i) {
      if (action_of(completions.element(i).string()) != played[i])
        return fmt::format("completions[{}]: is not the episode's answer {}", i,
                           quote(walk::answer_text(played[i])));
      const double regret = regrets.element(i).number(0);
      if (labels.element(i).boolean() != (regret == 0))
        return fmt::format("labels[{}]: {} of an answer that loses {}", i, regret != 0, regret);
      lost += regret;
    }
    const double latency = row.required("latency").number();
    const double optimum = row.required("optimum").number();
    if (proven_ && !same(optimum + lost, latency))
      return fmt::format("optimum and regrets add up to {}, the latency is {}", optimum + lost, latency);
    return fault_of_claim(played, "the episode", latency);
  }

  walk::EpisodeContext context_;
  walk::Rules rules_;
  GraphValues values_;
  std::vector<std::vector<Action>> played_;  // by episode
  std::string system_;
  // Of the row that is checked: the answers before it, what they cost, and whether its figures are proven.
  std::vector<Action> prefix_;
  double spent_ = 0;
  bool proven_ = false;
};

}  // namespace

std::unique_ptr<GraphCheck> walk_check(const JsonField& graph_row, const CheckOptions& options) {
  return std::make_unique<WalkCheck>(graph_row, options);
}

}  // namespace fuselage::oracle

// The grid family's rows: the problem is labelled again, which must give the same row, and the schedules that
// its labels stand for are run by the judge and, under the fusionops rules, as an episode.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "data_row_check.h"
#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/grid/episode.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/oracle/data_source_grid.h"
#include "grid_labeller.h"

namespace fuselage::oracle {
namespace {

using grid::Kernel;

constexpr double tolerance = same_cost;  // relative

bool same(double a, double b) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

grid::Rules rules_of(const JsonField& row) {
  const JsonField field = row.required("rules");
  const auto set = grid::parse_rule_set(field.string());
  if (!set) field.refuse("is unknown", "one of " + join_names(grid::rule_set_names));
  return {.set = *set};
}

// Figures may differ by rounding, all else not at all.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return same(a.get<double>(), b.get<double>());
  if (!a.is_array() || !b.is_array() || a.size() != b.size()) return a == b;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

class GridCheck : public GraphCheck {
 public:
  GridCheck(const JsonField& row, const CheckOptions& options)
      : index_(static_cast<std::size_t>(row.required("index").integer(0))),
        instance_(instance_of(row)),
        rules_(rules_of(row)),
        labels_(read_grid_labels(options.labels, "labels")),
        rows_({.rules = std::string(name(rules_.set)),
               .system = options.system,
               .threshold = options.threshold}) {
    labels_.seed = static_cast<std::uint64_t>(row.required("seed").integer(0));
    labels_.cancel = options.budget.cancel;
    labeller_.emplace(row.required("graph").string(), instance_, rules_, labels_);
    done_ = labeller_->run();
  }

  std::optional<std::string> fault_of(RowFormat format, const JsonField& row) override {
    if (!done_) return std::nullopt;  // cancelled
    auto fault = fault_of_columns(format, row);
    if (fault) return fault;
    if (format == RowFormat::graphs) return fault_of_optimum();
    const RowId id = parse_row_id(row.required("id").string()).value();
    return format == RowFormat::prm ? fault_of_episode(id.episode) : fault_of_state(id);
  }

 private:
  static grid::Instance instance_of(const JsonField& row) {
    const JsonField field = row.required("graph_json");
    return grid::read_problem(field.string(), field.source() + ": " + field.path());
  }

  // Against the rows of the same id, of which kto has two.
  std::optional<std::string> fault_of_columns(RowFormat format, const JsonField& row) {
    rows_.plain = row.value().contains("prompt") && row.value().at("prompt").is_string();
    std::string text;
    append_rows(format, labeller_->graph(), index_, rows_, text);
    std::optional<std::string> fault;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const Json again = Json::parse(text.substr(begin, end - begin));
      begin = end + 1;
      if (format != RowFormat::graphs && again.at("id") != row.value().at("id")) continue;
      std::optional<std::string> difference = difference_of(row.value(), again);
      if (!difference) return std::nullopt;
      if (!fault) fault = std::move(difference);
    }
    return fault ? fault : "the problem, labelled again, has no such row";
  }

  static std::optional<std::string> difference_of(const Json& row, const Json& again) {
    for (const auto& [key, value] : again.items())
      if (!row.contains(key) || !same(row.at(key), value))
        return fmt::format("{}: differs from what labelling the problem again gives, {}", key,
                           quote(value.dump()));
    return std::nullopt;
  }

  std::vector<Kernel> read(const std::vector<std::string>& answers) const {
    std::vector<Kernel> steps;
    for (const std::string& answer : answers) {
      const auto step = grid::parse_step(answer, instance_.machine());
      if (!step) fail("{} is no step", quote(answer));
      steps.push_back(*step);
    }
    return steps;
  }

  grid::Episode episode_after(const std::vector<Kernel>& steps, int max_steps) const {
    grid::Episode episode(instance_, {.rules = rules_.set, .max_steps = max_steps});
    for (const Kernel& step : steps) episode.step(step);
    return episode;
  }

  std::optional<std::string> fault_of_schedule(std::vector<Kernel> steps, const std::vector<Kernel>& rest,
                                               std::string_view what, double latency) const {
    steps.insert(steps.end(), rest.begin(), rest.end());
    const grid::Evaluation judged = grid::evaluate(instance_, rules_, {.kernels = steps});
    if (!judged.valid())
      return fmt::format("{}: makes an illegal schedule: {}", what, judged.violation->message);
    if (!same(judged.latency, latency))
      return fmt::format("{}: the row says a latency of {}, the judge finds {}", what, latency,
                         judged.latency);
    if (rules_.set == grid::RuleSet::mlsys) return std::nullopt;
    const grid::Episode episode = episode_after(steps, std::numeric_limits<int>::max());
    if (episode.complete() && same(episode.total_latency(), latency)) return std::nullopt;
    return fmt::format("{}: the row says a latency of {}, the episode ends {} at {}", what, latency,
                       episode.complete() ? "complete" : "incomplete", episode.total_latency());
  }

  std::optional<std::string> fault_of_optimum() {
    return fault_of_schedule({}, labeller_->best_steps(), "the optimum", labeller_->graph().optimum.cycles);
  }

  std::optional<std::string> fault_of_episode(std::size_t at) {
    const LabelledEpisode& episode = labeller_->graph().episodes[at];
    return fault_of_schedule(read(episode.answers), labeller_->steps_after_episode(at), "the episode",
                             episode.latency);
  }

  std::optional<std::string> fault_of_state(const RowId& id) {
    const LabelledGraph& graph = labeller_->graph();
    std::size_t at = 0;
    while (graph.states[at].episode != id.episode || graph.states[at].step != id.step) ++at;
    const LabelledState& state = graph.states[at];
    const std::vector<std::string>& played = graph.episodes[id.episode].answers;
    std::vector<Kernel> steps = read({played.begin(), played.begin() + id.step});
    if (rules_.set != grid::RuleSet::mlsys) {
      const grid::Episode episode = episode_after(steps, grid_max_steps(instance_, rules_));
      if (episode.observation(false) != state.observation)
        return fmt::format("the prompt is not the observation after {} answers", id.step);
    }
    for (const LabelledAnswer& answer : state.answers) {
      std::vector<Kernel> whole = steps;
      whole.push_back(read({answer.text}).front());
      auto fault = fault_of_schedule(std::move(whole), labeller_->steps_after(at, answer.text).value(),
                                     quote(answer.text), state.spent + answer.q.cycles);
      if (fault) return fault;
    }
    return std::nullopt;
  }

  std::size_t index_;
  grid::Instance instance_;
  grid::Rules rules_;
  GridLabelOptions labels_;
  RowOptions rows_;
  std::optional<GridLabeller> labeller_ = {};
  bool done_ = false;
};

}  // namespace

std::unique_ptr<GraphCheck> grid_check(const JsonField& graph_row, const CheckOptions& options) {
  return std::make_unique<GridCheck>(graph_row, options);
}

}  // namespace fuselage::oracle

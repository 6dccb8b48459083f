#include "fuselage/oracle/data_source_grid.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "fuselage/core/json.h"
#include "fuselage/oracle/data_source.h"
#include "fuselage/oracle/grid_decisions.h"

namespace fuselage::oracle {

std::optional<LabelledGraph> GridSource::label(std::size_t index, const std::atomic<bool>* cancel) const {
  GridLabelOptions labels = options_.labels;
  labels.seed = seed_of_graph(options_.labels.seed, index);
  labels.cancel = cancel;
  if (index < options_.given.size()) {
    const GivenProblem& given = options_.given[index];
    return label_grid(given.name, given.instance, options_.rules, labels);
  }
  const GridSample drawn = draw_grid({.min_ops = options_.min_ops,
                                      .max_ops = options_.max_ops,
                                      .honest = options_.rules.set != grid::RuleSet::mlsys},
                                     labels.seed);
  // The rules at its end are a column of their own.
  return label_grid(drawn.name.substr(0, drawn.name.rfind('_')), drawn.instance, options_.rules, labels);
}

std::string grid_labels_to_json(const GridLabelOptions& options, const std::string& policy) {
  // By name, as they are after reading.
  return nlohmann::ordered_json{{"candidates", options.most_candidates},
                                {"episodes", options.episodes},
                                {"policy", policy},
                                {"steps", options.steps}}
      .dump();
}

GridLabelOptions read_grid_labels(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  const JsonField root(json, source);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return {.mix = parse_grid_policy_mix(root.required("policy").string(), source + ": policy"),
          .episodes = static_cast<int>(root.required("episodes").integer(1, most)),
          .steps = static_cast<std::uint64_t>(root.required("steps").integer(1)),
          .most_candidates = static_cast<std::size_t>(root.required("candidates").integer(1, most))};
}

}  // namespace fuselage::oracle

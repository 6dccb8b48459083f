#include "evaluator_answer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/plan_json.h"

namespace fuselage::oracle {
namespace {

// JSON has no NaN, but programs write it: such words outside of strings become null.
std::string without_nan(std::string_view line) {
  std::string text;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < line.size()) text += line[i++];
    bool replaced = false;
    for (const std::string_view word : {"-Infinity", "Infinity", "-inf", "inf", "-nan", "NaN", "nan"}) {
      if (in_string || !line.substr(i).starts_with(word)) continue;
      text += "null";
      i += word.size() - 1;
      replaced = true;
      break;
    }
    if (!replaced) text += line[i];
  }
  return text;
}

std::string shortened(std::string text) {
  constexpr std::size_t most = 500;
  if (text.size() > most) text.resize(most);
  return text;
}

Measurement measurement_of(const JsonField& root) {
  Measurement measured;
  if (const auto error = root.optional("error"); error && !error->is_null()) {
    measured.failure = error->value().is_string() ? shortened(error->string()) : "an error";
    return measured;
  }
  const JsonField latency = root.required("latency");
  const double value = latency.value().is_number() ? latency.value().get<double>() : 0;
  if (std::isfinite(value) && value > 0)
    measured.latency = value;
  else
    measured.failure =
        fmt::format("latency {}; expected a finite number above 0", shortened(latency.value().dump()));
  return measured;
}

}  // namespace

std::string request_line(const Workload& workload, const Request& request) {
  const Simulation priced =
      simulate(workload.graph, workload.hardware, *request.plan, {.rules = walk::Rules::seed_honest});
  walk::PlanFile file{.workload = workload, .kernels = *request.plan, .latency = priced.latency};
  file.actions = walk::actions_of(*request.plan);
  nlohmann::ordered_json json = {{"id", request.trial}};
  json["plan"] = nlohmann::ordered_json::parse(walk::plan_to_json(file));
  return json.dump() + "\n";
}

std::optional<EvaluatorAnswer> parse_answer(std::string_view line, std::string& why) {
  const std::string source = "answer";
  try {
    const Json json = parse_json(without_nan(line), source, {.object_only = true});
    const JsonField root(json, source);
    return EvaluatorAnswer{.id = root.required("id").integer(0), .measured = measurement_of(root)};
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace fuselage::oracle

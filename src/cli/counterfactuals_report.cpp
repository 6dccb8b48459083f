#include "counterfactuals_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::CounterfactualTally;
using oracle::Difference;
using oracle::FactKind;

CounterfactualTally total_of(const CounterfactualsReport& report) {
  CounterfactualTally total;
  for (const FactKind kind : report.facts) total.add(report.mix.tally(kind));
  return total;
}

std::int64_t of(const CounterfactualTally& tally, Difference difference) {
  return tally.differences[static_cast<std::size_t>(difference)];
}

ordered_json json_of(const CounterfactualTally& tally) {
  ordered_json json = {{"tried", tally.tried()}};
  for (std::size_t i = 0; i < oracle::attempt_names.size(); ++i)
    json[std::string(oracle::attempt_names[i])] = tally.attempts[i];
  json["taken"] = tally.taken();
  for (std::size_t i = 0; i < oracle::difference_names.size(); ++i)
    json[std::string(oracle::difference_names[i])] = tally.differences[i];
  json["clean"] = tally.clean;
  json["mean_relative_loss"] = tally.mean_loss();
  return json;
}

}  // namespace

std::string text_of(const CounterfactualsReport& report) {
  Table table({{"fact", Align::left},
               {"tried"},
               {"pairs"},
               {"taken"},
               {"disjoint"},
               {"overlapping"},
               {"same"},
               {"clean"},
               {"loss %"}});
  const auto add = [&](std::string_view name, const CounterfactualTally& tally) {
    table.add({std::string(name), grouped(tally.tried()), grouped(tally.found()), grouped(tally.taken()),
               grouped(of(tally, Difference::disjoint)), grouped(of(tally, Difference::overlapping)),
               grouped(of(tally, Difference::same)), grouped(tally.clean),
               of(tally, Difference::disjoint) > 0 ? percent(tally.mean_loss()) : "-"});
  };
  for (const FactKind kind : report.facts) add(name(kind), report.mix.tally(kind));
  const CounterfactualTally total = total_of(report);
  if (report.facts.size() > 1) add("all", total);
  return table.text() + fmt::format(
                            "\nloss: what the first text's best action costs in the second, of the least "
                            "latency there; mean of "
                            "disjoint pairs.\n{}: {} pairs of {} graphs, {}\n",
                            report.file, grouped(total.taken()), grouped(report.graphs), name(report.rules));
}

std::string json_of(const CounterfactualsReport& report) {
  ordered_json json = {{"file", report.file},
                       {"rules", name(report.rules)},
                       {"graphs", report.graphs},
                       {"all", json_of(total_of(report))},
                       {"facts", ordered_json::object()}};
  for (const FactKind kind : report.facts)
    json["facts"][std::string(name(kind))] = json_of(report.mix.tally(kind));
  return dump(json);
}

}  // namespace fuselage::cli

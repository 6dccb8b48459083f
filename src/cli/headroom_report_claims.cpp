#include <fmt/format.h>

#include "headroom_report.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using oracle::Claim;
using oracle::ClaimReading;

// "task3" of "task3_attention".
std::string short_name(std::string_view task) {
  return std::string(task.substr(0, task.find('_')));
}

std::string verdict(const Claim& claim, const ClaimReading& reading) {
  if (claim.holds(reading)) return "holds";
  const int within = claim.within(reading);
  return within == 0 ? "does not hold" : fmt::format("does not hold: {} of {}", within, claim.in_scope());
}

std::string value_cell(const Claim& claim, const ClaimReading& reading, std::size_t task) {
  const auto& value = reading.values[task];
  const std::string text = value ? percent(*value) + (reading.proven ? "" : "*") : "-";
  return claim.scope[task] ? text : "(" + text + ")";
}

std::string table_of(const Claim& claim) {
  std::vector<Column> columns = {{"reading", Align::left}, {"rules", Align::left}};
  for (const oracle::Published& task : oracle::published()) columns.push_back({short_name(task.task)});
  columns.push_back({"verdict", Align::left});
  Table table(std::move(columns));
  for (const ClaimReading& reading : claim.readings) {
    std::vector<std::string> cells = {reading.name, reading.rules};
    for (std::size_t task = 0; task < reading.values.size(); ++task)
      cells.push_back(value_cell(claim, reading, task));
    cells.push_back(verdict(claim, reading));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string definitions_of(const Claim& claim) {
  std::string text;
  std::string last;
  for (const ClaimReading& reading : claim.readings) {
    if (reading.name == last) continue;
    last = reading.name;
    text += fmt::format("  {}: {}\n", reading.name, reading.definition);
  }
  return text;
}

}  // namespace

std::string claims_table(const std::vector<Claim>& claims) {
  std::string text;
  for (const Claim& claim : claims)
    text += fmt::format("claim: {}\n\n{}\n{}\n", claim.text, table_of(claim), definitions_of(claim));
  return text +
         "Figures in percent. A claim holds in a reading if every task that it is about is within the "
         "range,\n"
         "rounded to whole percent; tasks that it is not about are in brackets.\n";
}

}  // namespace fuselage::cli

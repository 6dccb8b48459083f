#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  const oracle::TaskSet within = claim.within(reading);
  const auto count = [](const oracle::TaskSet& set) { return std::count(set.begin(), set.end(), true); };
  if (count(within) == 0) return "does not hold";
  return fmt::format("does not hold: {} of {}", count(within), count(reading.scope));
}

std::string value_cell(const ClaimReading& reading, std::size_t task) {
  const auto& value = reading.values[task];
  const std::string text = value ? percent(*value) + (reading.proven ? "" : "*") : "-";
  return reading.scope[task] ? text : "(" + text + ")";
}

std::string table_of(const Claim& claim) {
  std::vector<Column> columns = {{"reading", Align::left}, {"rules", Align::left}};
  for (const oracle::Published& task : oracle::published()) columns.push_back({short_name(task.task)});
  columns.push_back({"verdict", Align::left});
  Table table(std::move(columns));
  for (const ClaimReading& reading : claim.readings) {
    std::vector<std::string> cells = {reading.name, reading.rules};
    for (std::size_t task = 0; task < reading.values.size(); ++task)
      cells.push_back(value_cell(reading, task));
    cells.push_back(verdict(claim, reading));
    table.add(std::move(cells));
  }
  return table.text();
}

// Lines of at most 105 characters, all but the first set in.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 105;
  std::string lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line.size() + 1 + word.size() > width) lines += std::exchange(line, "     ") + '\n';
    line += (at == 0 ? "" : " ") + word;
    at = end + 1;
  }
  return lines + line + '\n';
}

std::string definitions_of(const Claim& claim) {
  std::string text;
  std::string last;
  for (const ClaimReading& reading : claim.readings) {
    if (reading.name == last) continue;
    last = reading.name;
    text += wrapped(fmt::format("  - {}: {}", reading.name, reading.definition));
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

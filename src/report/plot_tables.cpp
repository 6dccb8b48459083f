#include "plot_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fuselage/core/error.h"
#include "plot_limits.h"

namespace fuselage::report {
namespace {

constexpr std::size_t most_names = 12;  // of columns and fields, in a message

// A few values of the column, for messages.
std::string values_of(const CsvTable& table, std::size_t column) {
  constexpr std::size_t most = 8;
  std::vector<std::string> values;
  for (const CsvRow& row : table.rows()) {
    const std::string value = quote(row.fields[column]);
    if (std::find(values.begin(), values.end(), value) != values.end()) continue;
    values.push_back(values.size() == most ? "..." : value);
    if (values.size() > most) break;
  }
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

struct Wanted {
  std::set<std::string> any = {};
  std::set<std::string> none = {};
  bool holds(const std::string& value) const {
    return (any.empty() || any.contains(value)) && !none.contains(value);
  }
};

std::map<std::size_t, Wanted> wanted_of(const CsvTable& table, const std::vector<Condition>& where) {
  std::map<std::size_t, Wanted> wanted;
  for (const Condition& condition : where) {
    const std::size_t column = column_of(table, condition.column);
    const bool known = std::any_of(table.rows().begin(), table.rows().end(),
                                   [&](const CsvRow& row) { return row.fields[column] == condition.value; });
    if (!known)
      fail("{}: no row has {} in column {}; expected one of {}", table.source(), quote(condition.value),
           quote(condition.column), values_of(table, column));
    (condition.excludes ? wanted[column].none : wanted[column].any).insert(condition.value);
  }
  return wanted;
}

double quantile(std::span<const double> sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double rest = place - static_cast<double>(below);
  if (rest == 0) return sorted[below];
  if (std::isinf(sorted[below + 1])) return sorted[below + 1];
  return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

}  // namespace

std::string listed(std::span<const std::string> names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (text.empty() ? "" : ", ") + quote(names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string contents_of(const Json& json) {
  if (!json.is_object()) return "is no object of JSON";
  std::vector<std::string> fields;
  for (const auto& [name, value] : json.items()) fields.push_back(name);
  if (fields.empty()) return "is an object of JSON without fields";
  return "is JSON with the fields " + listed(fields, most_names);
}

std::string beginning_of(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::string_view rest = text.substr(first);
  return "begins with " + quote(rest.substr(0, rest.find_first_of("\r\n")));
}

CsvTable read_table(const PlotInput& file, std::string example, std::string_view expected) {
  if (is_json(file.text)) fail("{}: is JSON and no CSV; expected {}", file.source, expected);
  return {file.text, file.source, std::move(example)};
}

Json read_document(const PlotInput& file, std::string_view field, std::string_view expected) {
  const bool is_blank = file.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (!is_blank && !is_json(file.text))
    fail("{}: is no JSON, it {}; expected {}", file.source, beginning_of(file.text), expected);
  Json json = parse_json(file.text, file.source, {.object_only = true});
  if (!json.contains(field))
    fail("{}: {}: this field is missing; expected {}; the file {}", file.source, field, expected,
         contents_of(json));
  return json;
}

std::size_t column_of(const CsvTable& table, std::string_view name, std::string_view expected) {
  if (const auto place = table.find(name)) return *place;
  const std::string names = listed(table.names(), most_names);
  if (expected.empty())
    fail("{}: line 1: there is no column {}; expected one of {}", table.source(), quote(name), names);
  fail("{}: line 1: there is no column {}; expected {}; the columns are {}", table.source(), quote(name),
       expected, names);
}

std::vector<const CsvRow*> rows_where(const CsvTable& table, const std::vector<Condition>& where) {
  if (table.rows().empty())
    fail("{}: has no rows after its first line; expected some to draw", table.source());
  const std::map<std::size_t, Wanted> wanted = wanted_of(table, where);
  std::vector<const CsvRow*> rows;
  for (const CsvRow& row : table.rows())
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const auto& entry) { return entry.second.holds(row.fields[entry.first]); }))
      rows.push_back(&row);
  if (rows.empty()) fail("{}: no row has all that is asked for; expected some to draw", table.source());
  return rows;
}

std::optional<double> optional_number(const CsvTable& table, const CsvRow& row, std::size_t column) {
  if (row.fields[column].empty()) return std::nullopt;
  return table.number(row, column);
}

PlotPanel& panel_of(Plot& plot, std::string_view title) {
  for (PlotPanel& panel : plot.panels)
    if (panel.title == title) return panel;
  check_count("panels", plot.panels.size() + 1, most_panels);
  return plot.panels.emplace_back(PlotPanel{.title = std::string(title)});
}

PlotSeries& series_of(PlotPanel& panel, std::string_view name) {
  for (PlotSeries& series : panel.series)
    if (series.name == name) return series;
  check_count("curves in a panel", panel.series.size() + 1, most_series);
  return panel.series.emplace_back(PlotSeries{.name = std::string(name)});
}

std::size_t category_of(Plot& plot, std::string_view name) {
  const auto found = std::find(plot.categories.begin(), plot.categories.end(), name);
  const auto place = static_cast<std::size_t>(found - plot.categories.begin());
  if (found != plot.categories.end()) return place;
  check_count("categories", place + 1, most_categories);
  plot.categories.emplace_back(name);
  return place;
}

void Sources::add(std::string_view panel, std::string_view curve, std::string_view category,
                  const std::string& source) {
  const auto [found, is_new] =
      sources_.try_emplace({std::string(panel), std::string(curve), std::string(category)}, source);
  if (is_new) return;
  std::string what;
  for (const std::string_view part : {panel, curve, category})
    if (!part.empty()) what += (what.empty() ? "" : ", ") + quote(part);
  fail("{}: {} is drawn already, from {}; expected one figure in its place", source, what, found->second);
}

std::string source_of(const JsonField& field) {
  return field.path().empty() ? field.source() : field.source() + ": " + field.path();
}

std::string source_of(const CsvTable& table, const CsvRow& row) {
  return fmt::format("{}: line {}", table.source(), row.line);
}

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Quartiles quartiles_of(std::span<const double> sorted) {
  return {.low = quantile(sorted, 0.25), .median = quantile(sorted, 0.5), .high = quantile(sorted, 0.75)};
}

}  // namespace fuselage::report

// What the kinds of plots have in common: rows of a table that count, and curves that are found by name.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/csv.h"
#include "fuselage/core/json.h"
#include "fuselage/report/plot_kinds.h"

namespace fuselage::report {

// What a kind of plot reads: its file is a table with names such as `example`, or a JSON object with a field
// `field`. `expected` is what messages say of a file that is another: who writes the right one.
CsvTable read_table(const PlotInput& file, std::string example, std::string_view expected);
Json read_document(const PlotInput& file, std::string_view field, std::string_view expected);

// Error that says which columns there are; `expected` as above, or empty: one of them.
std::size_t column_of(const CsvTable& table, std::string_view name, std::string_view expected = {});

// The fields of an object, or how a text begins that is none; for messages.
std::string contents_of(const Json& json);
std::string beginning_of(std::string_view text);

// "a", "b" and 3 more
std::string listed(std::span<const std::string> names, std::size_t most);

// Error if a column is not there, or if none are left.
std::vector<const CsvRow*> rows_where(const CsvTable& table, const std::vector<Condition>& where);

// Empty cells are none.
std::optional<double> optional_number(const CsvTable& table, const CsvRow& row, std::size_t column);

// The one of that title or name, made at the end if there is none. Error if a plot doesn't show so many.
PlotPanel& panel_of(Plot& plot, std::string_view title);
PlotSeries& series_of(PlotPanel& panel, std::string_view name);
std::size_t category_of(Plot& plot, std::string_view name);

// Where each figure comes from: two of one place would be drawn on top of each other, and look like one.
class Sources {
 public:
  // `source` is "h.json: results[0]", say. Error, naming both, if there is one already.
  void add(std::string_view panel, std::string_view curve, std::string_view category,
           const std::string& source);

 private:
  std::map<std::array<std::string, 3>, std::string> sources_;
};
std::string source_of(const JsonField& field);
std::string source_of(const CsvTable& table, const CsvRow& row);

// Does the text begin as JSON does, rather than as CSV?
bool is_json(std::string_view text);

// The middle of sorted values, and what a quarter and three quarters of them lie below, linearly between two.
struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};
Quartiles quartiles_of(std::span<const double> sorted);

}  // namespace fuselage::report

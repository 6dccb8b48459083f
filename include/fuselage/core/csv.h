// How every CSV file is read and written (RFC 4180: commas, names in the first line; no field is longer than
// its line). Reading is strict, so that a file that lost a column or half of a line is an error with its
// place rather than another figure. Fields are text; who wants a number asks for one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

struct CsvRow {
  std::size_t line = 0;  // in the file, from 1
  std::vector<std::string> fields = {};
};

class CsvTable {
 public:
  // Error, with `source` and line, for text without a first line or that is not UTF-8, for a name that is
  // empty or appears twice, for a row with more or fewer fields than names, and for quotes that don't end.
  // Empty lines are skipped. `example` is a first line that would be right.
  CsvTable(std::string_view text, std::string source, std::string example);

  const std::string& source() const { return source_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<CsvRow>& rows() const { return rows_; }

  std::optional<std::size_t> find(std::string_view name) const;
  std::size_t column(std::string_view name) const;  // Error if there is none

  // A finite number; blanks around it and a plus are allowed. Error for anything else.
  double number(const CsvRow& row, std::size_t column) const;
  double positive_number(const CsvRow& row, std::size_t column) const;
  // Throws "source: line 3, column 2 ("cost"): "x" is wrong; expected ...".
  [[noreturn]] void refuse(const CsvRow& row, std::size_t column, std::string_view expected) const;

 private:
  void read_names(std::vector<std::string> names);

  std::string source_;
  std::string example_;
  std::vector<std::string> names_;
  std::vector<CsvRow> rows_;
};

// A line with its end. Fields with a comma, a quote or the end of a line in them are quoted.
std::string csv_line(std::span<const std::string> fields);

}  // namespace fuselage

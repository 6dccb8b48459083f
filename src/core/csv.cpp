#include "fuselage/core/csv.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/core/number_text.h"
#include "fuselage/core/utf8.h"

namespace fuselage {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Lines that are not empty, as fields.
class CsvLines {
 public:
  CsvLines(std::string_view text, const std::string& source) : rest_(text), source_(source) {
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  // False at the end.
  bool next(std::vector<std::string>& fields) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      split(line, fields);
      return true;
    }
    return false;
  }
  std::size_t number() const { return number_; }

 private:
  void split(std::string_view line, std::vector<std::string>& fields) const {
    fields.clear();
    for (;;) {
      fields.push_back(line.starts_with('"') ? quoted(line, fields.size() + 1) : plain(line));
      if (line.empty()) return;
      line.remove_prefix(1);  // the comma
    }
  }
  static std::string plain(std::string_view& line) {
    const std::size_t end = std::min(line.find(','), line.size());
    std::string field(line.substr(0, end));
    line.remove_prefix(end);
    return field;
  }
  std::string quoted(std::string_view& line, std::size_t column) const {
    std::string field;
    std::size_t at = 1;
    for (; at < line.size(); ++at) {
      if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
      if (line[at] == '"') ++at;
      field += line[at];
    }
    if (at == line.size())
      fail("{}: line {}, column {}: the quote does not end; expected one before the end of the line", source_,
           number_, column);
    line.remove_prefix(at + 1);
    if (!line.empty() && line.front() != ',')
      fail("{}: line {}, column {}: {} after the quote; expected a comma", source_, number_, column,
           quote(line.substr(0, 1)));
    return field;
  }

  std::string_view rest_;
  const std::string& source_;
  std::size_t number_ = 0;
};

// NaN for what is no finite number.
double number_of(std::string_view digits) {
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  return find_number(digits).value_or(std::nan(""));
}

std::string field_of(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.starts_with(byte_order_mark)) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string source, std::string example)
    : source_(std::move(source)), example_(std::move(example)) {
  check_utf8(text, source_);
  CsvLines lines(text, source_);
  std::vector<std::string> fields;
  if (!lines.next(fields)) fail("{}: is empty; expected a first line such as {}", source_, example_);
  read_names(std::move(fields));
  while (lines.next(fields)) {
    if (fields.size() != names_.size())
      fail("{}: line {}: has {} columns; expected {}, as the first line", source_, lines.number(),
           fields.size(), names_.size());
    rows_.push_back({.line = lines.number(), .fields = std::move(fields)});
  }
}

void CsvTable::read_names(std::vector<std::string> names) {
  names_ = std::move(names);
  std::unordered_set<std::string_view> seen;
  for (std::size_t c = 0; c < names_.size(); ++c) {
    if (names_[c].empty()) fail("{}: line 1, column {}: the name is empty; expected one", source_, c + 1);
    if (!seen.insert(names_[c]).second)
      fail("{}: line 1, column {}: {} appears twice; expected each name once", source_, c + 1,
           quote(names_[c]));
  }
}

std::optional<std::size_t> CsvTable::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::size_t CsvTable::column(std::string_view name) const {
  const auto place = find(name);
  if (!place)
    fail("{}: line 1: there is no column {}; expected names such as {}", source_, quote(name), example_);
  return *place;
}

double CsvTable::number(const CsvRow& row, std::size_t column) const {
  const double value = number_of(row.fields[column]);
  if (std::isnan(value)) refuse(row, column, "a finite number");
  return value;
}

double CsvTable::positive_number(const CsvRow& row, std::size_t column) const {
  const double value = number_of(row.fields[column]);
  if (!(value > 0)) refuse(row, column, "a finite number > 0");
  return value;
}

void CsvTable::refuse(const CsvRow& row, std::size_t column, std::string_view expected) const {
  fail("{}: line {}, column {} ({}): {} is wrong; expected {}", source_, row.line, column + 1,
       quote(names_[column]), quote(row.fields[column]), expected);
}

std::string csv_line(std::span<const std::string> fields) {
  if (fields.size() == 1 && fields[0].empty()) return "\"\"\n";  // an empty line is none
  std::string line;
  for (std::size_t c = 0; c < fields.size(); ++c) line += (c == 0 ? "" : ",") + field_of(fields[c]);
  return line + '\n';
}

}  // namespace fuselage

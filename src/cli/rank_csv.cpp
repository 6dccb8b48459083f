#include "rank_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::cli {
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
    while (true) {
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

struct Header {
  std::vector<std::string> names;
  std::size_t group = 0;
  std::size_t cost = 0;
  std::optional<std::size_t> weight = {};
  std::vector<std::size_t> scores = {};
};

Header read_header(const std::vector<std::string>& names, const std::string& source) {
  Header header{.names = names};
  const auto place_of = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  };
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (names[c].empty()) fail("{}: line 1, column {}: the name is empty; expected one", source, c + 1);
    if (*place_of(names[c]) != c)
      fail("{}: line 1, column {}: {} appears twice; expected each name once", source, c + 1,
           quote(names[c]));
  }
  for (const std::string_view needed : {"group", "cost"})
    if (!place_of(needed))
      fail("{}: line 1: there is no column {}; expected names such as group,cost,score", source,
           quote(needed));
  header.group = *place_of("group");
  header.cost = *place_of("cost");
  header.weight = place_of("weight");
  for (std::size_t c = 0; c < names.size(); ++c)
    if (c != header.group && c != header.cost && c != header.weight) header.scores.push_back(c);
  if (header.scores.empty())
    fail("{}: line 1: there is no column of scores; expected names such as group,cost,score", source);
  return header;
}

// The numbers of a line.
class Row {
 public:
  Row(const Header& header, const std::vector<std::string>& fields, const std::string& source,
      std::size_t line)
      : header_(header), fields_(fields), source_(source), line_(line) {
    if (fields.size() != header.names.size())
      fail("{}: line {}: has {} columns; expected {}, as the first line", source, line, fields.size(),
           header.names.size());
  }
  const std::string& text(std::size_t column) const { return fields_[column]; }
  double number(std::size_t column, bool positive) const {
    const std::string& field = fields_[column];
    std::string_view digits = field;
    while (digits.starts_with(' ')) digits.remove_prefix(1);
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || !std::isfinite(value) || (positive && value <= 0))
      refuse(column, positive ? "a finite number > 0" : "a finite number");
    return value;
  }
  [[noreturn]] void refuse(std::size_t column, std::string_view expected) const {
    fail("{}: line {}, column {} ({}): {} is wrong; expected {}", source_, line_, column + 1,
         quote(header_.names[column]), quote(fields_[column]), expected);
  }

 private:
  const Header& header_;
  const std::vector<std::string>& fields_;
  const std::string& source_;
  std::size_t line_;
};

}  // namespace

ScoreTable parse_scores(std::string_view text, const std::string& source) {
  CsvLines lines(text, source);
  std::vector<std::string> fields;
  if (!lines.next(fields)) fail("{}: is empty; expected a first line such as group,cost,score", source);
  const Header header = read_header(fields, source);
  ScoreTable table;
  for (const std::size_t column : header.scores) table.rankers.push_back(header.names[column]);
  std::map<std::string, std::size_t> places;
  while (lines.next(fields)) {
    const Row row(header, fields, source, lines.number());
    const double weight = header.weight ? row.number(*header.weight, true) : 1;
    const auto [place, is_new] = places.emplace(row.text(header.group), table.groups.size());
    if (is_new)
      table.groups.push_back({.name = place->first,
                              .weight = weight,
                              .costs = {},
                              .scores = std::vector<std::vector<double>>(table.rankers.size())});
    ScoredGroup& group = table.groups[place->second];
    if (weight != group.weight)
      row.refuse(*header.weight, fmt::format("{}, as in the rows of group {} before",
                                             json_number(group.weight), quote(group.name)));
    group.costs.push_back(row.number(header.cost, true));
    for (std::size_t r = 0; r < header.scores.size(); ++r)
      group.scores[r].push_back(row.number(header.scores[r], false));
    ++table.rows;
  }
  if (table.rows == 0) fail("{}: has no rows after its first line; expected some to rank", source);
  return table;
}

}  // namespace fuselage::cli

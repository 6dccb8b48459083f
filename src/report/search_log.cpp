#include "fuselage/report/search_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/json.h"

namespace fuselage::report {
namespace {

std::optional<double> number_or_none(const JsonField& field) {
  return field.is_null() ? std::nullopt : std::optional(field.number());
}

LogLine read_line(const JsonField& line) {
  return {.graph = line.required("graph").string(),
          .entry = {.seconds = line.required("seconds").number(0),
                    .steps = line.required("steps").number(0),
                    .engine = line.required("engine").string(),
                    .incumbent = number_or_none(line.required("incumbent")),
                    .lower_bound = number_or_none(line.required("lower_bound"))}};
}

}  // namespace

std::vector<LogLine> read_search_log(std::string_view text, const std::string& source) {
  std::vector<LogLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const Json json = parse_json(line, source, {.object_only = true, .first_line = number});
    const std::string place = fmt::format("{}: line {}", source, number);
    lines.push_back(read_line(JsonField(json, place)));
  }
  return lines;
}

}  // namespace fuselage::report

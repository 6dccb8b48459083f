#include "fuselage/core/action_line.h"

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage {
namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";
constexpr std::string_view field = "action";

// Is the field named anywhere? Told without reading the line as JSON, which it need not be.
bool names_field(std::string_view line) {
  constexpr std::string_view key = "\"action\"";
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    const std::size_t after = line.find_first_not_of(white_space, at + key.size());
    if (after != std::string_view::npos && line[after] == ':') return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> read_action_line(std::string_view line, const std::string& source,
                                            std::size_t number) {
  const std::size_t begin = line.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return std::nullopt;
  const bool is_object = line[begin] == '{' && names_field(line);
  if (!is_object && line[begin] != '"') return std::string(line);
  const Json json = parse_json(line, source, {.first_line = number});
  if (json.is_string()) return json.get<std::string>();
  const auto action = json.find(field);
  if (action == json.end()) return std::string(line);
  if (action->is_null()) return std::nullopt;
  if (!action->is_string())
    fail("{}: line {}: action: {} is no text; expected a string, or null for none", source, number,
         quote(action->dump(-1, ' ', false, Json::error_handler_t::replace)));
  return action->get<std::string>();
}

}  // namespace fuselage

#include "fuselage/walk/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "answer_convert.h"
#include "answer_json.h"
#include "answer_text.h"

namespace fuselage::walk {
namespace {

std::optional<Action> action_of(const answer_parts::JsonValue& object) {
  std::optional<answer_parts::JsonValue> fuse, tile, retain;
  answer_parts::each_entry(object,
                           [&](const answer_parts::JsonValue& key, const answer_parts::JsonValue& value) {
                             const std::string field = answer_parts::ascii_of(key);
                             if (field == "fuse_with_prev") fuse = value;
                             if (field == "tile") tile = value;
                             if (field == "retain") retain = value;
                           });
  Action action;
  if (fuse) action.fuse_with_prev = answer_parts::truthy(*fuse);
  if (tile) {
    const std::optional<int> read = answer_parts::tile_of(*tile);
    if (!read) return std::nullopt;
    action.tile = *read;
  }
  if (retain) {
    std::optional<std::vector<NodeId>> read = answer_parts::retain_of(*retain);
    if (!read) return std::nullopt;
    action.retain = *std::move(read);
  }
  return action;
}

std::string without_fence_lines(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!text.starts_with("```")) kept += text.substr(0, size);
    text.remove_prefix(size);
  }
  return kept;
}

std::optional<Action> parse_unfenced(std::string_view text) {
  answer_parts::JsonCursor cursor(text, max_answer_depth);
  cursor.skip_space();
  const std::optional<answer_parts::JsonValue> value = cursor.value();
  if (cursor.too_deep()) return std::nullopt;
  cursor.skip_space();
  if (value && cursor.at_end())
    return value->kind == answer_parts::JsonValue::Kind::object ? action_of(*value) : std::nullopt;
  return answer_parts::action_in_text(text);
}

}  // namespace

std::optional<Action> parse_answer(std::string_view text) {
  const std::string_view stripped = answer_parts::strip(text);
  return stripped.starts_with("```") ? parse_unfenced(without_fence_lines(stripped))
                                     : parse_unfenced(stripped);
}

void append_answer(std::string& out, const Action& action) {
  out += action.fuse_with_prev ? R"({"fuse_with_prev": true, "tile": )"
                               : R"({"fuse_with_prev": false, "tile": )";
  fmt::format_to(std::back_inserter(out), R"({}, "retain": [)", action.tile);
  for (std::size_t i = 0; i < action.retain.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}{}", i > 0 ? ", " : "", action.retain[i]);
  out += "]}";
}

std::string answer_text(const Action& action) {
  std::string text;
  append_answer(text, action);
  return text;
}

}  // namespace fuselage::walk

// Python's conversions of the fields of an answer: int(), truthiness, list(). One place says what a number
// beyond int or double becomes, for JSON and for loose text alike.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answer_json.h"
#include "fuselage/graph/graph.h"

namespace fuselage::walk::answer_parts {

// White space as int(), float() and str.strip() see it, within ASCII.
inline constexpr std::string_view python_space = " \t\n\r\f\v";
std::string_view strip(std::string_view text);

// `digits` is an integer, perhaps with a sign. Beyond int: the nearest int, and no node (-1).
int nearest_int(std::string_view digits);
NodeId node_id(std::string_view digits);

bool truthy(const JsonValue& value);
// Nothing where Python raises, except that strings of a fraction are truncated (see answer.h).
std::optional<int> tile_of(const JsonValue& value);
std::optional<std::vector<NodeId>> retain_of(const JsonValue& value);

}  // namespace fuselage::walk::answer_parts

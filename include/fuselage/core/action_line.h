// An agent's action as one line of a file. A game reads text of any kind, so the line stands for itself;
// where an action spans several lines, or a program writes it, it is JSON:
//
//   {"action": "TEXT", ...}   the text. Other fields are passed over, so that a log of steps, a JSON object a
//                             line, is a file of actions too; null stands for no action.
//   "TEXT"                    a JSON string: the text.
//
// A line that begins with a quote, and an object with a field "action", must be such JSON. All else is the
// action itself: words, JSON objects without that field, JSON that is broken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fuselage {

// None: a blank line, or null. Error with `source`, the number of the line and what would be right.
std::optional<std::string> read_action_line(std::string_view line, const std::string& source,
                                            std::size_t number);

}  // namespace fuselage

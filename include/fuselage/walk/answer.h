// Reads an agent's answer to one node, JSON or loose text, as the public environment's server reads it, so
// that a language model's transcript plays the same episode here. Answers are bytes from outside: any of them
// is read in linear time, with bounded stack, and nothing throws.
//
// 1. Fence. If the text begins (after white space) with three backticks, all lines that begin so go.
// 2. JSON as Python's json.loads takes it: NaN and Infinity are numbers, integers have any size, the last of
//    equal keys wins, escapes of lone surrogates pass, a byte order mark does not. Of an object:
//
//    - fuse_with_prev, by truthiness. False: false, null, 0, 0.0, "", [], {}. Absent: false.
//    - tile, as int() gives it. Numbers lose their fraction, booleans are 0 and 1, strings hold an integer
//      (with white space around it, a sign, single underscores inside it). Beyond Python, strings with a
//      fraction or an exponent are truncated too. Absent: 128.
//    - retain, a list of integers (booleans are 0 and 1), or an empty string or object. Absent: empty.
//
//    Parse errors: a field of another type, a tile that is infinite or not a number, a retain entry that is
//    a string, a fraction (2.0 too), null or nested, JSON that is no object, and nesting beyond
//    max_answer_depth.
// 3. Text that is no JSON, in any letter case, the first match of each, all optional:
//
//    fuse[_with_prev] (= or :) true|false|yes|no|1|0
//    tile [= or :] digits
//    retain [= or :] "[" integers, comma-separated, or none "]"
//
//    White space may stand between the parts, quotes may not: JSON within prose is not looked for. There are
//    no word boundaries ("fuse=10" is true). Text in which nothing matches, even none, is the default action.
//
// White space, digits and letter case are ASCII's; Python's int() and \d know other digits as well.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fuselage/walk/plan.h"

namespace fuselage::walk {

// Lists and objects inside each other. Python's own limit is near 1000, by way of its stack.
inline constexpr int max_answer_depth = 256;

// Of an answer that is a parse error; it uses no step.
inline constexpr double parse_error_reward = -0.1;

// Nothing: a parse error. Tile and retain are as the answer gives them, legal or not (the episode sanitises),
// but a tile beyond int becomes the nearest int, and a retain entry beyond int becomes -1, which is no node
// either.
std::optional<Action> parse_answer(std::string_view text);

// The same the other way: {"fuse_with_prev": true, "tile": 64, "retain": [3, 5]}, one line. Appends.
void append_answer(std::string& out, const Action& action);
std::string answer_text(const Action& action);

}  // namespace fuselage::walk

// Reads an agent's answer to one node, JSON or loose text, as the public environment's server reads it, so
// that a language model's transcript plays the same episode here. Answers are bytes from outside: any of them
// is read in linear time, with bounded stack, and nothing throws.
//
// 1. Fence. If the text begins (after white space) with three backticks, all lines that begin so are dropped.
// 2. JSON, as Python's json.loads takes it: NaN and Infinity are numbers, integers have any size, the last of
// equal
//    keys wins, escapes of lone surrogates pass, a byte order mark does not. Of an object:
//    - fuse_with_prev by truthiness: false, null, 0, 0.0, "", [], {} are false, all else is true; absent:
//    false;
//    - tile as int() gives it: numbers lose their fraction, booleans are 0 and 1, strings hold an integer
//    (white
//      space around it, a sign and single underscores inside it pass); beyond Python, strings of a fraction
//      or with an exponent lose their fraction as well; absent: 128;
//    - retain as a list of integers (booleans are 0 and 1); an empty string or object is an empty list;
//    absent: empty. A field of another type, an infinite or not-a-number tile, and a retain entry that is a
//    string, a fraction (2.0 too), null or nested are parse errors; so is JSON that is no object, or nested
//    deeper than max_answer_depth.
// 3. Text that is no JSON, case-insensitive, the first match of each, all optional:
//        fuse[_with_prev] (= or :) true|false|yes|no|1|0      tile [= or :] digits
//        retain [= or :] "[" integers, comma-separated, or none "]"
//    with white space allowed between the parts. No word boundaries are asked for: "fuse=10" is true. Text in
//    which nothing matches, empty text too, is the default action, not a parse error.
//
// White space, digits and letter case are ASCII's; Python's int() and \d know other digits as well.
#pragma once

#include <optional>
#include <string_view>

#include "fuselage/walk/plan.h"

namespace fuselage::walk {

// Lists and objects inside each other. Python's own limit is near 1000, by way of its stack.
inline constexpr int max_answer_depth = 256;

// Nothing: a parse error. Tile and retain are as the answer gives them, legal or not (the episode sanitises),
// but a tile beyond int becomes the nearest int, and a retain entry beyond int becomes -1, which is no node
// either.
std::optional<Action> parse_answer(std::string_view text);

}  // namespace fuselage::walk

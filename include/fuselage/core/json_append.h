// JSON written at the end of a text that grows, for files of millions of rows: no value is built, nothing is
// allocated beside the text itself.
#pragma once

#include <string>
#include <string_view>

namespace fuselage {

// With quotes. `text` must be UTF-8; what JSON can't hold as it is, is escaped.
void append_json_string(std::string& out, std::string_view text);
// As json_number() of core/json.h.
void append_json_number(std::string& out, double value);

}  // namespace fuselage

// Options whose value is a list of key=value with commas between: --price traffic=0.1,launch=500.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace fuselage::cli {

// What such an option knows.
struct KeyValueOption {
  std::string_view name;               // with its dashes
  std::vector<std::string_view> keys;  // that may be given
  std::string_view expected;           // all of them, in words
};

// Places among the keys, and values as text. Error for text without keys, an unknown key, and one that is
// given twice.
std::vector<std::pair<std::size_t, std::string_view>> parse_key_values(const KeyValueOption& option,
                                                                       std::string_view text);

}  // namespace fuselage::cli

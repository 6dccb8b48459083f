// Parts of replies that both families write alike.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace fuselage::serve {

template <class Ids>
void append_ids(std::string& out, const Ids& ids) {
  out += '[';
  bool first = true;
  for (const auto id : ids) {
    fmt::format_to(std::back_inserter(out), "{}{}", first ? "" : ",", id);
    first = false;
  }
  out += ']';
}

}  // namespace fuselage::serve

// The one exception of the library: bad input. A message says what was read (file, field, value) and what
// would be right, since it is all that a user sees. Budgets that end and graphs that cannot be scheduled are
// values of an outcome, not errors; broken invariants assert.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace fuselage {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// fail("{}: nodes[{}].flops: {} is negative; expected a number >= 0", file, i, value)
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fuselage

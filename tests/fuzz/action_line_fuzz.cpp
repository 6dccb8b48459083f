// Lines of actions are bytes from outside: any of them is an action, none, or refused with the line's number;
// an action that is written as JSON reads back the same, and is passed on as it stands otherwise.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/core/action_line.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

using namespace fuselage;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  std::optional<std::string> action;
  try {
    action = read_action_line(line, "f", 7);
  } catch (const Error& error) {
    check(std::string_view(error.what()).starts_with("f: line 7"));
    return 0;
  }
  if (!action || *action == line) return 0;
  const std::string json = json_string(*action);
  check(read_action_line(json, "f", 1) == action);
  check(read_action_line("{\"step\": 1, \"action\": " + json + "}", "f", 1) == action);
  return 0;
}

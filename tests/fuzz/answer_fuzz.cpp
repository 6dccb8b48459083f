// Answers are bytes from outside: whatever they are, reading them must end, throw nothing and give either a
// parse error or an action that reads back the same from its own JSON.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/walk/answer.h"

using fuselage::walk::Action;
using fuselage::walk::parse_answer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Action> action = parse_answer({reinterpret_cast<const char*>(data), size});
  if (!action) return 0;
  const std::string json = fmt::format(R"({{"fuse_with_prev":{},"tile":{},"retain":[{}]}})",
                                       action->fuse_with_prev, action->tile, fmt::join(action->retain, ","));
  if (parse_answer(json) != action) std::abort();
  const std::string text =
      fmt::format("fuse={} retain=[{}]", action->fuse_with_prev, fmt::join(action->retain, ","));
  const std::optional<Action> loose = parse_answer(text);
  if (!loose || loose->fuse_with_prev != action->fuse_with_prev || loose->retain != action->retain)
    std::abort();
  return 0;
}

// Whatever a search log holds, reading it ends in lines or in an Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/report/search_log.h"

using namespace fuselage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& line :
         report::read_search_log({reinterpret_cast<const char*>(data), size}, "fuzz.jsonl"))
      if (!(line.entry.seconds >= 0) || !(line.entry.steps >= 0) ||
          !std::isfinite(line.entry.incumbent.value_or(0)))
        std::abort();
  } catch (const Error&) {
  }
  return 0;
}

// Whatever a transcript's line holds, reading it ends in a transcript or in an Error, and its answers can be
// played: none of them throws, and all of them together use no more steps than there are nodes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "../../src/cli/transcript.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/play_answers.h"

using namespace fuselage;

namespace {

std::optional<cli::Transcript> read_or_refuse(std::string text) {
  try {
    return cli::read_transcript({.number = 1, .text = std::move(text)}, "fuzz.jsonl", walk::Rules::seed);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto transcript = read_or_refuse({reinterpret_cast<const char*>(data), size});
  if (!transcript || transcript->workload.graph.size() > 200) return 0;
  std::optional<walk::EpisodeContext> context;
  try {
    context.emplace(transcript->workload);
  } catch (const Error&) {
    return 0;
  }
  const auto outcome = oracle::outcome_of(*context, transcript->rules, transcript->answers);
  const auto used = transcript->answers.size() - static_cast<std::size_t>(outcome.played.unread) -
                    static_cast<std::size_t>(outcome.played.unused);
  if (used > static_cast<std::size_t>(transcript->workload.graph.size())) std::abort();
  if (outcome.complete != (used == static_cast<std::size_t>(transcript->workload.graph.size()))) std::abort();
  return 0;
}

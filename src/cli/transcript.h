// What an agent answered in an episode, as a line of a JSON Lines file:
//
//   {"task": "task4_mixed", "policy": "mine", "actions": ["{\"fuse_with_prev\": true, \"tile\": 64}", ...]}
//   {"graph": {"nodes": [...], "hardware": {...}}, "name": "g7", "rules": "seed", "actions": [...]}
//
// An action is what a model answered, as text, or a JSON value, which is taken for the text that it would be;
// whether it can be read is for the environment's parser to say (walk/answer.h), not for this one. Files come
// from other people's programs, so a line that is no transcript costs that line and no other, and none costs
// more memory than the limits below allow.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/rules.h"
#include "line_reader.h"

namespace fuselage::cli {

inline constexpr std::size_t max_transcript_bytes = std::size_t{16} << 20;  // of a line
inline constexpr std::size_t max_transcript_values = 1'000'000;             // JSON values of a line

struct Transcript {
  std::string file = {};
  std::size_t line = 0;      // of the file, from 1
  std::string policy = "-";  // who answered; "-" if the line doesn't say
  Workload workload;
  walk::Rules rules = walk::Rules::seed_honest;  // seed or seed_honest
  std::vector<std::string> answers = {};
};

// One line. `rules` is for a line that doesn't say. Error, with the source and its line number, for one that
// is no transcript, names an unknown task, has a graph that isn't one, or rules without episodes.
Transcript read_transcript(const Line& line, const std::string& source, walk::Rules rules);

class TranscriptReader {
 public:
  // "-" is the standard input. Error if the file can't be read, or the rules have no episodes.
  TranscriptReader(const std::string& path, walk::Rules rules);

  // The next transcript, blank lines left out; none at the end. Error for a line that is none: the next call
  // goes on with the line after it.
  std::optional<Transcript> next();

  const std::string& source() const { return lines_.source(); }

 private:
  LineReader lines_;
  walk::Rules rules_;
};

// Hands every transcript of the files to `use`, in order. What is no transcript, an Error of `use`, and a
// file that can't be read or has no line, are printed as errors, and the others go on; false if there was
// one.
bool read_transcripts(const std::vector<std::string>& paths, walk::Rules rules,
                      const std::function<void(const Transcript&)>& use);

}  // namespace fuselage::cli

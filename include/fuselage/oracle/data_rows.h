// Rows of a data set as JSON Lines, in the columns that trainers of language models read (the names are those
// of TRL's documentation), with what a label is worth beside them. Every row of a format has the same keys of
// the same types and no null, so that a file has one schema for whoever infers it from the first rows. Costs
// are floating-point numbers, also whole ones; a list that may be empty is a JSON text within a string.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/oracle/labelled_graph.h"

namespace fuselage::oracle {

// graphs: a row a graph, with its episodes; from it every other row can be played again.
enum class RowFormat : std::uint8_t { graphs, sft, prompt_completion, dpo, kto, grpo, prm, raw };
inline constexpr std::array<std::string_view, 8> row_format_names = {
    "graphs", "sft", "prompt-completion", "dpo", "kto", "grpo", "prm", "raw"};
constexpr std::string_view name(RowFormat format) {
  return row_format_names[static_cast<std::size_t>(format)];
}

struct RowColumn {
  std::string_view name;
  std::string_view meaning;  // with unit
};
// In the order of the rows.
std::vector<RowColumn> columns_of(RowFormat format);

struct RowOptions {
  std::string rules = "seed-honest";
  // Stands before the observation: a system message, or the beginning of a plain prompt. Empty: nothing does.
  std::string system = {};
  bool plain = false;  // prompts are text rather than messages; of sft never, of prm always
  // An answer is shown as a bad one (dpo, kto) if it costs more than the best by this part of the graph's
  // optimum.
  double threshold = 0.001;
};

// Rows about one graph, the `index`-th of the data set, appended to `out`; how many.
std::size_t append_rows(RowFormat format, const LabelledGraph& graph, std::size_t index,
                        const RowOptions& options, std::string& out);

// "12.1.7": the graph's index, the episode, the step.
struct RowId {
  std::size_t graph = 0;
  std::size_t episode = 0;
  int step = 0;
};
std::optional<RowId> parse_row_id(std::string_view text);

}  // namespace fuselage::oracle

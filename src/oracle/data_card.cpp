#include <fmt/format.h>

#include <algorithm>

#include "fuselage/oracle/data_manifest.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t splits = learn::split_names.size();

std::string_view split_name(learn::Split split) {
  return learn::split_names[static_cast<std::size_t>(split)];
}

// As the hub classes sizes.
std::string_view size_category(std::uint64_t rows) {
  if (rows < 1'000) return "n<1K";
  if (rows < 10'000) return "1K<n<10K";
  if (rows < 100'000) return "10K<n<100K";
  if (rows < 1'000'000) return "100K<n<1M";
  if (rows < 10'000'000) return "1M<n<10M";
  return "10M<n<100M";
}

// The format whose configuration is loaded when none is named: the first that a trainer reads.
RowFormat default_format(const DataManifest::Totals& totals) {
  for (const auto& [format, by_split] : totals.by_split)
    if (format != RowFormat::graphs) return format;
  return RowFormat::graphs;
}

std::string front_matter(const DataManifest& manifest, const DataManifest::Totals& totals) {
  std::string text = fmt::format(
      "---\nlicense: {}\ntask_categories:\n- text-generation\ntags:\n- compilers\n- scheduling\n- "
      "reinforcement-learning\nsize_categories:\n- {}\nconfigs:\n",
      manifest.license, size_category(totals.rows));
  for (const auto& [format, by_split] : totals.by_split) {
    text += fmt::format("- config_name: {}\n", name(format));
    if (format == default_format(totals)) text += "  default: true\n";
    text += "  data_files:\n";
    for (const auto& [split, rows] : by_split)
      text += fmt::format("  - split: {}\n    path: {}/{}-*.jsonl{}\n", split_name(split), name(format),
                          split_name(split), manifest.zstd ? ".zst" : "");
  }
  return text + "---\n";
}

std::string rows_table(const DataManifest::Totals& totals) {
  std::string text = "| configuration | train | validation | test | bytes |\n|---|---:|---:|---:|---:|\n";
  for (const auto& [format, by_split] : totals.by_split) {
    text += fmt::format("| `{}` |", name(format));
    for (std::size_t split = 0; split < splits; ++split) {
      const auto rows = by_split.find(static_cast<learn::Split>(split));
      text += fmt::format(" {} |", rows == by_split.end() ? 0 : rows->second);
    }
    text += fmt::format(" {} |\n", totals.bytes_of.at(format));
  }
  return text;
}

bool is_grid(const DataManifest& manifest) {
  return manifest.family == "grid";
}

// Columns are described in the walk family's unit.
std::string meaning_of(const RowColumn& column, bool grid) {
  constexpr std::string_view unit = "cycles";
  std::string text(column.meaning);
  const std::size_t at = grid ? text.find(unit) : std::string::npos;
  return at == std::string::npos ? text : text.replace(at, unit.size(), "time units");
}

std::string columns_text(const DataManifest& manifest, const DataManifest::Totals& totals) {
  std::string text;
  for (const auto& [format, by_split] : totals.by_split) {
    text += fmt::format("\n### {}\n\n| column | meaning |\n|---|---|\n", name(format));
    for (const RowColumn& column : columns_of(format))
      text += fmt::format("| `{}` | {} |\n", column.name, meaning_of(column, is_grid(manifest)));
  }
  return text;
}

double proven_percent(const DataManifest::Totals& totals) {
  return totals.states == 0 ? 0
                            : 100 * static_cast<double>(totals.proven) / static_cast<double>(totals.states);
}

std::string observations_text(const DataManifest& manifest) {
  if (!is_grid(manifest)) return "Observations are the text of the\nenvironment, to the byte.";
  if (manifest.rules == "mlsys")
    return "The rules\nhave no environment: an observation is one line of JSON, with the steps and latency "
           "so "
           "far, the ops\nthat ran, the tensors in slow and in fast memory, and the problem as the contest "
           "writes it.";
  return "Observations are the text of the\nenvironment without its examples of valid actions, to the byte.";
}

std::string grid_labels_text(const DataManifest& manifest, const DataManifest::Totals& totals) {
  return fmt::format(
      "A state lies between two kernels; its value is that of the best completion that any search from any\n"
      "state of the problem found. `proof` says what is known of that: `optimal` if a bound shows that no\n"
      "schedule is better, `optimal in the declared space` if a search went through all schedules of the\n"
      "kernels that it declares (groups of ops up to a size, few retained tensors), else `none`. A state "
      "has\n"
      "the weakest of its own and its answers'; {} of {} states ({:.2f} %) are `optimal`. `lower_bound` and\n"
      "`gap` rest on the bound alone.\n\n"
      "Costs are latencies in the time units of the problem. Answers are some of the kernels that may\n"
      "come next: the best one known, others that look good, what the policy chose, and some that are "
      "drawn;\n"
      "one that is not listed may be as good. A step without ops empties fast memory; it is listed where the "
      "best kernel pays only after it,\n"
      "or where the policy took it, and its value is that of the kernel. The environment's limit of steps\n"
      "(the task's; else 20, or two an op) is no part of the values: an episode ends where the best\n"
      "completion known needs more steps than are left. An answer is optimal if none that is listed leads "
      "to\n"
      "less; ties are all optimal, and the formats that show one show the one that retains least. An answer\n"
      "is shown as a bad one only if it loses at least {} of the problem's optimum.\n\n"
      "`naive` is the environment's figure; under `mlsys`, which has none, what every op alone takes at its\n"
      "best granularity, and a score is the part of it that is saved. `greedy` takes in each state the\n"
      "kernel that saves most.\n",
      totals.proven, totals.states, proven_percent(totals), manifest.threshold);
}

std::string labels_text(const DataManifest& manifest, const DataManifest::Totals& totals) {
  if (is_grid(manifest)) return grid_labels_text(manifest, totals);
  return fmt::format(
      "Of {} states, {} ({:.2f} %) have every value proven: `proof` is `optimal`. Where it is `none`, the\n"
      "values are the best found within the budget of a search, and `gap` says by how much the state's own\n"
      "may be too high. Costs are latencies in cycles. An answer is optimal if no other one leads to less; "
      "ties are\n"
      "all optimal, and the formats that show one show the one that retains least, then one with tile 128.\n"
      "An answer is shown as a bad one only if it loses at least {} of the graph's optimum.\n",
      totals.states, totals.proven, proven_percent(totals), manifest.threshold);
}

}  // namespace

std::string data_card(const DataManifest& manifest) {
  const DataManifest::Totals totals = manifest.totals();
  std::string text = front_matter(manifest, totals);
  text += fmt::format(
      "\n# Schedules of tensor graphs, labelled by an {}optimizer\n\n"
      "States of an episode in which an agent decides how a tensor graph runs, which ops to fuse, how to "
      "tile\n"
      "and what to keep in fast memory, with what every answer is worth. {} Family `{}`, rules `{}`.\n\n"
      "```python\nfrom datasets import load_dataset\ndata = load_dataset(\"PATH\", \"{}\")\n```\n\n"
      "In pandas, `read_json(FILE, lines=True, dtype=False)` keeps the types; else it takes whole costs for\n"
      "integers.\n\n## Sizes\n\n"
      "{} graphs, {} episodes, {} states.\n\n",
      is_grid(manifest) ? "" : "exact ", observations_text(manifest), manifest.family, manifest.rules,
      name(default_format(totals)), totals.graphs, totals.episodes, totals.states);
  text += rows_table(totals);
  text += fmt::format(
      "\nThe split of a graph follows from its hash (80, 10 and 10 in a hundred), so that no graph, on "
      "whatever\n"
      "machine, is in two splits or in two splits of different data sets. {}\n\n## Labels\n\n",
      manifest.command.find("--tasks-in-train") != std::string::npos
          ? "The environment's fixed tasks are in `train`, as was asked for."
          : "The environment's fixed tasks are never in `train`.");
  text += labels_text(manifest, totals);
  text += "\n## Columns\n" + columns_text(manifest, totals);
  text += fmt::format("\n## How it was made\n\n```\n{}\n```\n\nby {}{}", manifest.command, manifest.program,
                      manifest.part.of == 1 ? std::string()
                                            : fmt::format("; this is part {} of {} of it",
                                                          manifest.part.index, manifest.part.of));
  text +=
      ". `manifest.json` has the SHA-256 of every file; `fuselage oracle verify` checks them and plays a\n"
      "sample of the rows again.\n";
  return text;
}

}  // namespace fuselage::oracle

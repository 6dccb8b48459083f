#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/data_set.h"
#include "fuselage/oracle/data_verify.h"
#include "interrupt.h"
#include "options.h"
#include "oracle_options.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::DataManifest;
using oracle::RowFormat;

constexpr const char* footer =
    R"(Episodes of graphs are played by the policies of a mix, and every state that they get into is labelled
with what each answer is worth: proven optimal where the search proves it, and said where not. DIR becomes
a data set that datasets.load_dataset and TRL read as it is:

  DIR/README.md, manifest.json     card with configurations; hashes of all files
  DIR/sft/train-00000-of-00005.jsonl, ...

Formats: sft (messages), prompt-completion, dpo (prompt, chosen, rejected), kto (prompt, completion, label),
grpo (prompt, and what rebuilds the environment), prm (prompt, completions, labels: an episode a row), raw
(every value of every answer); graphs, a row a graph with its episodes, is always there. Splits follow from
the hash of the graph; the five fixed tasks are in the split test unless --tasks-in-train is given.

Policies: optimal, epsP (optimal, but for a part P of the steps), random, greedy, heuristic, constant128
(always fuse; also 32, 64, 256), alone128 (never fuse). --transcripts has episodes of your own agent, a JSON
object a line as 'fuselage regret' reads them; then the mix is played on drawn graphs only, unless --policy
is given.

Grid problems: --family grid, or rules or tasks of theirs; drawn ones have --ops, and files are the contest's
JSON. A state lies between two kernels, an answer is the text of a step, and some of the kernels that may come
next are labelled (--candidates). A value is that of the best completion found by any search, "optimal" where
a bound is met, else "optimal in the declared space" where a search went through it. Policies: optimal, epsP,
random, greedy, naive (every op alone). The environment's observation comes without its examples; mlsys, which
has none, gets one line of JSON. The four tasks of fusionops stay out of train, also as files.

The same options give the same bytes, whatever the threads. A run that was stopped or killed goes on where
it was if it is started again: finished shards are kept. --shard-of I/N makes one part of N, anywhere;
'fuselage oracle merge' joins them. Two processes can't write into one directory.

Exit code: 0; 1 if it was interrupted, or if verify finds a fault; 2 for bad input, or a full disk.

Examples:
  fuselage oracle --graphs 1000 --curriculum 0.2:0.8 --seed 1 --format sft,dpo --out data
  fuselage oracle --tasks all --policy optimal --format raw --out tasks
  fuselage oracle --transcripts mine.jsonl --format dpo,kto --out dagger
  fuselage oracle --rules mlsys --graphs 200 --ops 10-30 --format sft,dpo --out grid
  fuselage oracle --graphs 100000 --shard-of 3/16 --out part3
  fuselage oracle merge part0 part1 part2 part3 --out whole
  fuselage oracle verify data --sample 1000)";

struct MergeCommand {
  std::vector<std::string> parts;
  std::string out;
  bool json = false;
};

struct VerifyCommand {
  std::string directory;
  std::optional<std::int64_t> sample, seed, steps;
  bool json = false;
};

std::uint64_t rows_of(const std::map<learn::Split, std::uint64_t>& by_split, learn::Split split) {
  const auto at = by_split.find(split);
  return at == by_split.end() ? 0 : at->second;
}

ordered_json report_json(const std::string& out, const DataManifest& manifest) {
  const DataManifest::Totals totals = manifest.totals();
  ordered_json json = {{"directory", out},
                       {"graphs", totals.graphs},
                       {"episodes", totals.episodes},
                       {"states", totals.states},
                       {"proven", totals.proven},
                       {"shards", manifest.shards.size()},
                       {"part", {{"index", manifest.part.index}, {"of", manifest.part.of}}},
                       {"rows", ordered_json::object()}};
  for (const auto& [format, by_split] : totals.by_split) {
    ordered_json& rows = json["rows"][std::string(oracle::name(format))];
    for (std::size_t i = 0; i < learn::split_names.size(); ++i)
      rows[std::string(learn::split_names[i])] = rows_of(by_split, static_cast<learn::Split>(i));
  }
  return json;
}

std::string report_text(const std::string& out, const DataManifest& manifest) {
  const DataManifest::Totals totals = manifest.totals();
  Table table({{"format", Align::left}, {"train"}, {"validation"}, {"test"}, {"bytes"}});
  for (const auto& [format, by_split] : totals.by_split)
    table.add({std::string(oracle::name(format)), grouped(rows_of(by_split, learn::Split::train)),
               grouped(rows_of(by_split, learn::Split::validation)),
               grouped(rows_of(by_split, learn::Split::test)), grouped(totals.bytes_of.at(format))});
  const std::string part =
      manifest.part.of == 1 ? "" : fmt::format(" (part {} of {})", manifest.part.index, manifest.part.of);
  return fmt::format(
      "{}{}: {} graphs, {} episodes, {} states, {} of them with every value proven; {} shard{}\n\n{}", out,
      part, grouped(totals.graphs), grouped(totals.episodes), grouped(totals.states), grouped(totals.proven),
      manifest.shards.size(), manifest.shards.size() == 1 ? "" : "s", table.text());
}

void report(const std::string& out, const DataManifest& manifest, bool json) {
  write_stdout(json ? dump(report_json(out, manifest)) : report_text(out, manifest));
}

int make(const OracleCommand& command) {
  OracleJob job = oracle_job(command);
  const std::atomic<bool>& interrupted = stop_on_interrupt();
  job.options.cancel = &interrupted;
  if (command.time) stop_after(*command.time);
  const DataManifest& manifest = job.options.manifest;
  const std::size_t first = manifest.first_shard() * manifest.shard_size;
  const std::size_t last =
      std::min<std::size_t>(manifest.last_shard() * manifest.shard_size, manifest.graphs);
  const Progress progress(last - first);
  job.options.progress = [&progress](std::size_t done) { progress.show(done - 1, "graphs"); };
  const oracle::DataOutcome outcome = oracle::make_data_set(*job.source, job.options);
  if (!outcome.complete) {
    print_note(fmt::format("{}: {} is not complete; the same command goes on where it was",
                           is_time_up() ? "time is up" : "interrupted", command.out));
    return exit_negative;
  }
  if (outcome.kept > 0)
    print_note(
        fmt::format("{} of {} shards were there already", outcome.kept, outcome.manifest.shards.size()));
  report(command.out, outcome.manifest, command.json);
  return exit_ok;
}

int merge(const MergeCommand& command) {
  if (command.out.empty()) fail("--out: is missing; expected a directory to write");
  report(command.out, oracle::merge_data_set(command.parts, command.out), command.json);
  return exit_ok;
}

int verify(const VerifyCommand& command) {
  oracle::VerifyOptions options;
  options.sample = static_cast<std::size_t>(command.sample.value_or(200));
  options.seed = static_cast<std::uint64_t>(command.seed.value_or(0));
  if (command.steps) options.steps = static_cast<std::uint64_t>(*command.steps);
  options.cancel = &stop_on_interrupt();
  const oracle::VerifyReport report = oracle::verify_data_set(command.directory, options);
  const bool fine = report.faults.empty() && !report.cancelled;
  if (command.json) {
    write_stdout(dump({{"directory", command.directory},
                       {"files", report.files},
                       {"rows", report.rows},
                       {"played", report.played},
                       {"interrupted", report.cancelled},
                       {"faults", report.faults}}));
    return fine ? exit_ok : exit_negative;
  }
  constexpr std::size_t most_shown = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(report.faults.size(), most_shown); ++i)
    text += report.faults[i] + "\n";
  if (report.faults.size() > most_shown)
    text += fmt::format("and {} more\n", report.faults.size() - most_shown);
  text += fmt::format("{}: {} files, {} rows, {} of them played again: {}\n", command.directory, report.files,
                      grouped(report.rows), report.played,
                      report.cancelled        ? "interrupted"
                      : report.faults.empty() ? "all is well"
                                              : fmt::format("{} faults", report.faults.size()));
  write_stdout(text);
  return fine ? exit_ok : exit_negative;
}

// Options of making a data set mean nothing to the other commands.
void refuse_options(const CLI::App& parent, std::string_view command) {
  for (const CLI::Option* option : parent.get_options())
    if (option->count() > 0)
      fail("{}: stands before {}; expected it after, if at all", option->get_name(), command);
}

void add_merge(CLI::App& parent, int& exit_code) {
  CLI::App& command = *parent.add_subcommand("merge", "Join the parts of a data set into one");
  auto options = std::make_shared<MergeCommand>();
  add_arguments(command, "PART", "directories of all the parts", options->parts)->required();
  add_text(command, {"--out", "DIR", "the directory to write"}, options->out);
  command.add_flag("--json", options->json, "say what was written as JSON");
  command.callback([&parent, options, &exit_code] {
    refuse_options(parent, "merge");
    exit_code = merge(*options);
  });
}

void add_verify(CLI::App& parent, int& exit_code) {
  CLI::App& command = *parent.add_subcommand("verify", "Check hashes, and play a sample of the rows again");
  auto options = std::make_shared<VerifyCommand>();
  add_argument(command, "DIR", "the data set", options->directory)->required();
  add_integer(command, {"--sample", "N", "rows to play again, default 200"}, {.min = 0, .max = 10'000'000},
              options->sample);
  add_integer(command, {"--seed", "N", "of the sample, default 0"}, {.min = 0}, options->seed);
  add_integer(command,
              {"--steps", "N",
               "kernels priced, at most, of one search, default 1000000; grid: as the data set\nwas made"},
              {.min = 1}, options->steps);
  command.add_flag("--json", options->json, "one JSON document");
  command.callback([&parent, options, &exit_code] {
    refuse_options(parent, "verify");
    exit_code = verify(*options);
  });
}

}  // namespace

void add_oracle(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("oracle", "Make a data set of labelled states");
  command.footer(footer);
  command.require_subcommand(0, 1);
  auto options = std::make_shared<OracleCommand>();
  add_oracle_options(command, *options);
  add_merge(command, exit_code);
  add_verify(command, exit_code);
  command.callback([&command, options, &exit_code] {
    if (command.get_subcommands().empty()) exit_code = make(*options);
  });
}

}  // namespace fuselage::cli

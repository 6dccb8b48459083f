#include "fuselage/oracle/replay.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "options.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(Works out every figure of a golden file anew and compares: doubles bit for bit, texts byte for byte,
optima within 1e-9 relative and proven, latencies under mlsys within 1e-9 too. What a row is shows in
its fields, so files can have any name and mix kinds: episodes, observations, generator, optima,
physical, physical-illegal, tasks, fusionops, mlsys.

Of a row that fails the first figure that differs is shown, with file, line and field. Observations
need their episodes: in the file beside theirs (the same name with "episodes" in the place of
"observations", or episodes.jsonl), or in a file named before theirs. A directory stands for the
files *.jsonl and tasks*.json in it. A file that can't be checked counts as one failure.

Exit code: 0 every row passes; 1 a row fails; 2 a file can't be read, or a row is malformed.

Examples:
  fuselage replay golden/walk
  fuselage replay golden/walk/episodes.jsonl golden/walk/observations.jsonl --json)";

struct ReplayCommand {
  std::vector<std::string> files;
  bool json = false;
};

// A file, with its report or why there is none.
struct Checked {
  std::string file;
  oracle::ReplayReport report;
  std::string error;  // empty: the report counts
};

std::vector<Checked> check_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths)
    for (std::string& file : oracle::golden_files(path)) files.push_back(std::move(file));
  std::vector<Checked> results;
  oracle::Replay replay;
  const Progress progress(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.show(i, files[i]);
    Checked& result = results.emplace_back();
    result.file = source_name(files[i]);
    try {
      result.report = replay.check(files[i]);
    } catch (const Error& error) {
      result.error = error.what();
    }
  }
  return results;
}

std::string kinds_of(const oracle::ReplayReport& report) {
  std::vector<std::string> kinds;
  for (const auto& [kind, rows] : report.rows)
    kinds.push_back(report.rows.size() > 1 ? fmt::format("{} {}", rows, kind) : kind);
  return fmt::format("{}", fmt::join(kinds, ", "));
}

struct Totals {
  std::size_t passed = 0;
  std::size_t failed = 0;  // a file that can't be checked counts as one
};

Totals totals_of(const std::vector<Checked>& results) {
  Totals totals;
  for (const Checked& result : results) {
    totals.passed += result.report.passed;
    totals.failed += result.error.empty() ? result.report.failed : 1;
  }
  return totals;
}

std::string text_of(const std::vector<Checked>& results) {
  Table table({{"file", Align::left}, {"rows", Align::left}, {"passed"}, {"failed"}, {"time"}});
  std::string differences;
  for (const auto& [file, report, error] : results) {
    if (!error.empty()) {
      table.add({file, "not checked", "-", "-", "-"});
      continue;
    }
    table.add({file, kinds_of(report), fmt::format("{}", report.passed), fmt::format("{}", report.failed),
               duration(report.seconds)});
    for (const std::string& difference : report.differences) differences += difference + '\n';
    if (const std::size_t more = report.failed - report.differences.size(); more > 0)
      differences += fmt::format("{}: {} more rows fail\n", file, more);
  }
  if (!differences.empty()) differences = '\n' + differences;
  const Totals totals = totals_of(results);
  return fmt::format("{}{}\n{} passed, {} failed\n", table.text(), differences, totals.passed, totals.failed);
}

std::string json_of(const std::vector<Checked>& results) {
  ordered_json files = ordered_json::array();
  for (const auto& [file, report, error] : results)
    files.push_back({{"file", file},
                     {"rows", report.rows},
                     {"passed", report.passed},
                     {"failed", report.failed},
                     {"differences", report.differences},
                     {"error", error.empty() ? ordered_json(nullptr) : ordered_json(error)},
                     {"seconds", report.seconds}});
  const Totals totals = totals_of(results);
  const ordered_json all = {{"files", files}, {"passed", totals.passed}, {"failed", totals.failed}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

int replay(const ReplayCommand& command) {
  const std::vector<Checked> results = check_files(command.files);
  int exit_code = exit_ok;
  for (const Checked& result : results) {
    if (!result.error.empty()) print_error(result.error);
    exit_code = std::max(exit_code, !result.error.empty()      ? exit_bad_input
                                    : result.report.failed > 0 ? exit_negative
                                                               : exit_ok);
  }
  write_stdout(command.json ? json_of(results) : text_of(results));
  return exit_code;
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("replay", "Check files of recorded figures, bit for bit");
  command.footer(footer);
  auto options = std::make_shared<ReplayCommand>();
  add_arguments(command, "FILE", "golden files, or directories of them; '-' for stdin", options->files)
      ->required();
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = replay(*options); });
}

}  // namespace fuselage::cli

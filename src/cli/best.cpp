#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "best_report.h"
#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/store.h"
#include "options.h"
#include "report_cells.h"
#include "store_option.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::Record;
using oracle::Store;

constexpr const char* best_footer =
    R"(The store keeps, for every graph, machine, rule set, order and price, and for every grid problem and
its rules, the best plan and the highest lower bound that anyone has found. It only ever improves, any
number of processes may use it at once, and every plan is priced anew from the rules alone when it comes
in and when it is read.

The file is $XDG_DATA_HOME/fuselage/best.sqlite, or ~/.local/share/fuselage/best.sqlite. These commands
refuse one that is damaged (exit code 2); the next search keeps it as FILE.damaged and begins a new one.

Examples:
  fuselage best list
  fuselage best show task3_attention
  fuselage best export best.jsonl)";

constexpr const char* list_footer =
    R"(best and bound are in cycles, of grid problems in their time units; no plan is below the bound, and gap
is how far the best may be from the optimum: none (optimal) if they agree within 1e-9. A price, where
there is one, is what the cost counts beside the latency. The key's first digits are enough for
'fuselage best show'.

Examples:
  fuselage best list
  fuselage best list --store best.sqlite --json)";

constexpr const char* show_footer =
    R"(A name that several records share is refused with a list of them; the first digits of a key choose one.
The table is that of 'fuselage explain', or of 'fuselage evaluate' for a grid problem. With --json the
record holds its plan.

Exit code: 0; 1 if the store has no such record; 2 for bad input, and for a plan that doesn't hold.

Examples:
  fuselage best show task3_attention
  fuselage best show 3fa2c8 --json)";

constexpr const char* export_footer =
    R"(One record a line, with its plan, graph and machine; the same store always gives the same bytes.

Examples:
  fuselage best export best.jsonl
  fuselage best export - --store best.sqlite | head -n 1)";

constexpr const char* import_footer =
    R"(A plan is kept if it is cheaper than the one in the store, a lower bound if it is higher. Every plan is
priced anew; a file with a line that doesn't hold changes nothing, and the other files are still read.

Exit code: 0, also if nothing was better; 2 if a file can't be read or a line doesn't hold.

Examples:
  fuselage best import best.jsonl
  fuselage best import from/*.jsonl --store best.sqlite --json)";

struct BestCommand {
  std::string store;
  std::string wanted;              // show: a name, or the beginning of a key
  std::string out;                 // export
  std::vector<std::string> files;  // import
  bool json = false;
};

ordered_json json_of(const Record& record, int overflows) {
  ordered_json json = record_to_json(record);
  json["gap"] = record.gap();
  json["overflows"] = overflows;
  return json;
}

// Of a record with its plan.
int overflows_of(const Record& record) {
  if (record.is_grid() || record.rules == walk::Rules::physical) return 0;
  const walk::PlanFile plan = walk::read_plan(record.plan, record.name);
  return oracle::overflows(plan.workload, plan.kernels, plan.rules);
}

std::vector<BestRow> rows_of(const Store& store) {
  std::vector<BestRow> rows;
  for (const Record& record : store.list()) {
    BestRow& row = rows.emplace_back(BestRow{.record = record});
    if (record.is_grid() || record.rules == walk::Rules::physical) continue;
    try {
      row.overflows = overflows_of(store.find(record.key).value());
    } catch (const oracle::StoreError&) {
      throw;
    } catch (const Error&) {
      // A plan that isn't true is for those who show it.
    }
  }
  return rows;
}

int list(const BestCommand& command) {
  const std::optional<Store> store = open_store_to_read(command.store);
  const std::vector<BestRow> records = store ? rows_of(*store) : std::vector<BestRow>{};
  if (command.json) {
    ordered_json json = ordered_json::array();
    for (const auto& [record, overflows] : records) json.push_back(json_of(record, overflows));
    write_stdout(dump({{"store", store_path(command.store)}, {"records", std::move(json)}}));
  } else if (records.empty()) {
    print_note(
        fmt::format("{}: no records yet; 'fuselage best import' adds some", store_path(command.store)));
  } else {
    write_stdout(best_table(records));
  }
  return exit_ok;
}

// Records of that name; if there are none, those whose key begins so.
std::vector<Record> matches(const std::vector<Record>& records, const std::string& wanted) {
  std::vector<Record> found;
  for (const Record& record : records)
    if (record.name == wanted) found.push_back(record);
  if (!found.empty()) return found;
  for (const Record& record : records)
    if (record.key.starts_with(wanted)) found.push_back(record);
  return found;
}

[[noreturn]] void refuse_ambiguous(const std::string& wanted, const std::vector<Record>& candidates) {
  std::string lines;
  for (const Record& record : candidates) lines += "\n  " + best_line(record);
  fail("{} stands for {} records; expected the first digits of one of these keys:{}", quote(wanted),
       candidates.size(), lines);
}

int show(const BestCommand& command) {
  const std::optional<Store> store = open_store_to_read(command.store);
  const std::vector<Record> found = store ? matches(store->list(), command.wanted) : std::vector<Record>{};
  if (found.size() > 1) refuse_ambiguous(command.wanted, found);
  const std::optional<Record> record = found.empty() ? std::nullopt : store->find(found.front().key);
  if (!record) {
    print_error(fmt::format("{}: no record of {}; 'fuselage best list' names all", store_path(command.store),
                            quote(command.wanted)));
    return exit_negative;
  }
  if (command.json) {
    write_stdout(dump(json_of(*record, overflows_of(*record))));
    return exit_ok;
  }
  write_stdout(best_details(*record, store->path()));
  return exit_ok;
}

int export_records(const BestCommand& command) {
  const std::optional<Store> store = open_store_to_read(command.store);
  std::string lines;
  std::size_t count = 0;
  if (store) {
    std::error_code missing;
    if (std::filesystem::equivalent(command.out, store->path(), missing))
      fail("{}: is the store, which the export would replace; expected another file", command.out);
    for (const Record& record : store->list()) {
      lines += record_to_line(store->find(record.key).value());
      ++count;
    }
  }
  if (command.out == "-") {
    write_stdout(lines);
    return exit_ok;
  }
  write_file_atomically(command.out, lines);
  print_note(fmt::format("{} record{} written to {}", count, count == 1 ? "" : "s", command.out));
  return exit_ok;
}

int import_records(const BestCommand& command) {
  Store store(store_path(command.store), oracle::Access::write, store_patience());
  int exit_code = exit_ok;
  std::string lines;
  ordered_json files = ordered_json::array();
  for (const std::string& file : command.files) {
    const std::string source = source_name(file);
    ordered_json& json = files.emplace_back(ordered_json{{"file", source}, {"error", nullptr}});
    try {
      const auto counts = store.import_lines(read_file(file), source);
      std::vector<std::string> words;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        words.push_back(fmt::format("{} {}", grouped(std::uint64_t{counts[i]}), oracle::offer_names[i]));
        json[std::string(oracle::offer_names[i])] = counts[i];
      }
      lines += fmt::format("{}: {}\n", source, fmt::join(words, ", "));
    } catch (const Error& error) {
      print_error(error.what());
      json["error"] = error.what();
      exit_code = exit_bad_input;
    }
  }
  write_stdout(command.json ? dump({{"store", store.path()}, {"files", files}}) : lines);
  return exit_code;
}

struct Subcommand {
  const char* name;
  const char* description;
  const char* footer;
  int (*run)(const BestCommand&);
};

CLI::App& add_subcommand(CLI::App& best, const Subcommand& subcommand,
                         const std::shared_ptr<BestCommand>& options, int& exit_code) {
  CLI::App& command = *best.add_subcommand(subcommand.name, subcommand.description);
  command.group("Commands");
  command.footer(subcommand.footer);
  add_store_option(command, options->store);
  command.callback([options, run = subcommand.run, &exit_code] { exit_code = run(*options); });
  return command;
}

void add_json_flag(CLI::App& command, BestCommand& options) {
  command.add_flag("--json", options.json, "one JSON document instead of text");
}

}  // namespace

void add_best(CLI::App& app, int& exit_code) {
  CLI::App& best = *app.add_subcommand("best", "The best plans known: list, show, export and import them");
  best.footer(best_footer);
  best.require_subcommand(1);
  auto options = std::make_shared<BestCommand>();
  const auto add = [&](const Subcommand& subcommand) -> CLI::App& {
    return add_subcommand(best, subcommand, options, exit_code);
  };
  add_json_flag(add({"list", "All records in one table", list_footer, list}), *options);
  CLI::App& show_command = add({"show", "One record and its plan, kernel by kernel", show_footer, show});
  add_argument(show_command, "NAME", "the name of a graph, or the first digits of a key", options->wanted)
      ->required();
  add_json_flag(show_command, *options);
  add_argument(add({"export", "All records as JSON Lines", export_footer, export_records}), "FILE",
               "written in one piece; '-' for stdout", options->out)
      ->required();
  CLI::App& import_command = add({"import", "Improve the store by an export", import_footer, import_records});
  add_arguments(import_command, "FILE", "JSON Lines as 'fuselage best export' writes them; '-' for stdin",
                options->files)
      ->required();
  add_json_flag(import_command, *options);
}

}  // namespace fuselage::cli

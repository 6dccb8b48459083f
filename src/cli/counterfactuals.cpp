#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "cli.h"
#include "counterfactuals_report.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/core/output_file.h"
#include "fuselage/oracle/counterfactuals_mix.h"
#include "fuselage/oracle/trajectories.h"
#include "fuselage/search/split_mix.h"
#include "fuselage/walk/generator.h"
#include "interrupt.h"
#include "options.h"
#include "range_option.h"
#include "targets.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

using oracle::FactKind;

constexpr const char* footer =
    R"(Pairs of observations of the environment that differ in one fact, with the proven optimal actions of
both. Kinds of facts:

  uses      how often one tensor is still read (by a node beyond the lookahead: one number changes)
  capacity  bytes of fast memory
  depth     ops of one kernel, at most
  edge      whether the current node, or one of the lookahead, reads a tensor

A pair a line (JSON Lines): both texts, both optimal sets, the Q values of all actions in both, what the
best action of each loses in the other, the fact, the fields that differ, both graphs and the actions that
lead to the state. Half of the pairs, or --same, keep their optimal set. In pairs that aren't "clean"
greedy_baseline differs, too, since it follows from the fact; --clean leaves them out.

Without TARGET graphs are drawn as the environment's training draws them. The same options give the same
bytes.

Examples:
  fuselage counterfactuals --graphs 200 --seed 1 --out pairs.jsonl
  fuselage counterfactuals --graphs 500 --facts uses,edge --clean --same 0.3 --out pairs.jsonl
  fuselage counterfactuals task4_mixed task5_adversarial --per-graph 40 --out tasks.jsonl)";

constexpr std::int64_t most_graphs = 1'000'000;
constexpr std::int64_t default_graphs = 100;
constexpr std::uint64_t seed_mask = (std::uint64_t{1} << 53) - 1;  // integers that every JSON reader holds

struct CounterfactualsCommand {
  TargetOptions targets;
  std::optional<std::int64_t> graphs, per_graph, tries, seed, steps;
  std::optional<double> time;    // seconds
  double low = 0.2, high = 0.8;  // of the curriculum
  bool has_curriculum = false;
  oracle::CounterfactualMixOptions mix;
  oracle::CounterfactualOptions search;
  std::string out;
  bool json = false;
};

// A graph, and how it was drawn.
struct Drawn {
  Workload workload;
  oracle::CounterfactualOrigin origin;
  std::uint64_t seed = 0;  // of what is drawn within it
};

// Hands out the graphs of one command, each once.
class Graphs {
 public:
  explicit Graphs(const CounterfactualsCommand& command)
      : command_(command), seeds_(static_cast<std::uint64_t>(command.seed.value_or(0))) {
    if (!command.targets.targets.empty()) given_ = read_targets(command.targets);
  }

  std::size_t drawn() const { return drawn_; }  // handed out so far
  std::size_t count() const {
    return given_ ? given_->size() : static_cast<std::size_t>(command_.graphs.value_or(default_graphs));
  }

  Drawn next() {
    ++drawn_;
    if (given_) return {.workload = (*given_)[index_++], .origin = {}, .seed = seeds_.next() & seed_mask};
    for (int draws = 0; draws < most_draws; ++draws) {
      Drawn drawn = draw();
      if (hashes_.insert(oracle::graph_hash(drawn.workload.graph)).second) return drawn;
    }
    fail("--graphs: {} graphs in turn were drawn before; expected fewer graphs, or a larger --curriculum",
         most_draws);
  }

 private:
  static constexpr int most_draws = 1000;

  Drawn draw() {
    const std::uint64_t seed = seeds_.next() & seed_mask;
    // In thousandths, so that it can be typed.
    const double level =
        std::round((command_.low + (command_.high - command_.low) * seeds_.unit()) * 1000) / 1000;
    PythonRandom stream(seed);
    Workload workload = walk::generate_curriculum(level, stream);
    workload.name += fmt::format("_s{}", seed);
    return {.workload = std::move(workload),
            .origin = {.id = {}, .graph_seed = static_cast<std::int64_t>(seed), .level = level},
            .seed = seed};
  }

  const CounterfactualsCommand& command_;
  search::SplitMix seeds_;
  std::optional<std::vector<Workload>> given_;
  std::size_t index_ = 0;
  std::size_t drawn_ = 0;
  std::set<std::string> hashes_;
};

// "uses,edge"
std::vector<FactKind> parse_facts(const std::string& text) {
  std::vector<FactKind> facts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const auto found = std::find(oracle::fact_names.begin(), oracle::fact_names.end(), word);
    if (found == oracle::fact_names.end())
      fail("--facts: {} is no kind of fact; expected some of {}, with commas between", quote(word),
           join_names(oracle::fact_names));
    const auto kind = static_cast<FactKind>(found - oracle::fact_names.begin());
    if (std::find(facts.begin(), facts.end(), kind) != facts.end())
      fail("--facts: {} is named twice; expected each kind once", quote(word));
    facts.push_back(kind);
    at = end + 1;
  }
  return facts;
}

// "0.2:0.8", or one level.
void parse_curriculum(const std::string& text, CounterfactualsCommand& command) {
  constexpr NumberRange levels{.min = 0, .max = 1};
  if (text.find(':') == std::string::npos) {
    command.low = command.high = read_number("--curriculum", text, levels);
  } else {
    const NumberRange range = read_number_range("--curriculum", text, levels);
    command.low = range.min;
    command.high = range.max;
  }
  command.has_curriculum = true;
}

std::optional<double> parse_same(const std::string& text) {
  if (text == "found") return std::nullopt;
  return read_number("--same", text, {.min = 0, .max = 1});
}

void check(const CounterfactualsCommand& command) {
  if (command.search.rules == walk::Rules::physical)
    fail("--rules: \"physical\" has no episodes; expected one of seed, seed-honest");
  const bool given = !command.targets.targets.empty();
  if (given && command.graphs) fail("--graphs: graphs were named; expected either --graphs or TARGET");
  if (given && command.has_curriculum)
    fail("--curriculum: graphs were named; expected either --curriculum or TARGET");
  const bool has_machine = !command.targets.hardware_file.empty() || !command.targets.assignments.empty();
  if (!given && has_machine)
    fail("--hardware, --set: drawn graphs have their own machines; expected a TARGET");
  if (command.json && command.out.empty())
    fail("--json: says what was written to a file; expected --out FILE, too");
}

// Rows go to the file as they come, which gets its name when all are there; to stdout all at once.
class Rows {
 public:
  explicit Rows(const std::string& out) {
    if (out.empty()) return;
    const auto directory = std::filesystem::path(out).parent_path();
    std::error_code error;
    if (!directory.empty()) std::filesystem::create_directories(directory, error);
    if (error) fail("{}: directory {} cannot be made: {}", out, directory.string(), error.message());
    file_.emplace(out, false);
  }
  void add(const std::string& line) {
    ++count_;
    if (file_)
      file_->write(line);
    else
      text_ += line;
  }
  std::int64_t count() const { return count_; }
  void finish() {
    if (!file_) {
      write_stdout(text_);
      return;
    }
    file_->finish();
    file_->publish();
  }

 private:
  std::int64_t count_ = 0;
  std::optional<OutputFile> file_;
  std::string text_;
};

// False if it was interrupted.
bool write_rows(const CounterfactualsCommand& command, Graphs& graphs, oracle::CounterfactualMix& mix,
                Rows& rows) {
  const std::atomic<bool>& interrupted = stop_on_interrupt();
  if (command.time) stop_after(*command.time);
  const Progress progress(graphs.count());
  for (std::size_t i = 0; i < graphs.count(); ++i) {
    Drawn drawn = graphs.next();
    progress.show(i, drawn.workload.name);
    oracle::CounterfactualOptions options = command.search;
    options.seed = drawn.seed;
    options.budget.cancel = &interrupted;
    drawn.origin.rules = options.rules;
    std::int64_t number = 0;
    if (interrupted) return false;
    for (const oracle::Counterfactual& pair : mix.next(drawn.workload, options)) {
      drawn.origin.id = fmt::format("{}-{}-{}", i, name(pair.fact.kind), number++);
      rows.add(oracle::to_json_line(pair, drawn.origin));
    }
    if (interrupted) return false;
  }
  return true;
}

int make_counterfactuals(const CounterfactualsCommand& command) {
  check(command);
  Graphs graphs(command);
  oracle::CounterfactualMix mix(command.mix);
  Rows rows(command.out);
  const bool is_whole = write_rows(command, graphs, mix, rows);
  if (!is_whole && !is_time_up()) {
    print_note("interrupted: nothing was written");
    return exit_negative;
  }
  if (!is_whole) print_note(fmt::format("time is up: {} of {} graphs", graphs.drawn(), graphs.count()));
  if (rows.count() == 0) {
    print_note("no pair was found; nothing was written");
    return exit_negative;
  }
  rows.finish();
  if (command.out.empty()) return exit_ok;
  const auto count = static_cast<std::int64_t>(graphs.count());
  const CounterfactualsReport report{.file = command.out,
                                     .rules = command.search.rules,
                                     .graphs = count,
                                     .facts = command.mix.facts,
                                     .mix = mix};
  write_stdout(command.json ? json_of(report) : text_of(report));
  return exit_ok;
}

void add_options(CLI::App& command, CounterfactualsCommand& options) {
  add_target_options(command, options.targets);
  command.get_option("TARGET")->required(false);
  add_integer(command, {"--graphs", "N", "graphs to draw, default 100"}, {.min = 1, .max = most_graphs},
              options.graphs);
  add_form(command, {"--curriculum", "LOW:HIGH", "how hard they are, from 0 to 1, default 0.2:0.8"},
           [&options](const std::string& text) { parse_curriculum(text, options); });
  add_integer(command, {"--seed", "N", "default 0"}, {.min = 0}, options.seed);
  add_form(command, {"--facts", "KINDS", "kinds of facts, default uses,capacity,depth,edge"},
           [&options](const std::string& text) { options.mix.facts = parse_facts(text); });
  add_integer(command, {"--per-graph", "K", "pairs of a graph, default 8"}, {.min = 1, .max = 10'000},
              options.per_graph);
  add_form(command,
           {"--same", "SHARE", "share of pairs with one optimal set, default 0.5; or 'found': as they come"},
           [&options](const std::string& text) { options.mix.same = parse_same(text); });
  command.add_flag("--clean", options.search.clean, "only pairs with one greedy_baseline");
  add_choice(command, {"--rules", "RULES", "seed, or seed-honest (default)"}, walk::rules_names,
             options.search.rules);
  add_integer(command, {"--tries", "N", "of a kind and graph, at most, default 300"},
              {.min = 1, .max = 1'000'000}, options.tries);
  add_integer(command, {"--steps", "N", "kernels priced for one value, at most, default 1,000,000"},
              {.min = 1}, options.steps);
  add_number(command, {"--time", "SECONDS", "of the whole command: write what is there by then"},
             {.min = 1e-6, .max = 1e9}, options.time);
  add_text(command, {"--out", "FILE", "the file to write, instead of stdout"}, options.out);
  command.add_flag("--json", options.json, "say what was written as JSON");
}

}  // namespace

void add_counterfactuals(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("counterfactuals", "Make pairs of observations that differ in one fact");
  command.footer(footer);
  auto options = std::make_shared<CounterfactualsCommand>();
  add_options(command, *options);
  command.callback([options, &exit_code] {
    if (options->per_graph) options->mix.per_graph = static_cast<int>(*options->per_graph);
    if (options->tries) options->mix.tries = static_cast<int>(*options->tries);
    options->search.budget.steps = static_cast<std::uint64_t>(options->steps.value_or(1'000'000));
    exit_code = make_counterfactuals(*options);
  });
}

}  // namespace fuselage::cli

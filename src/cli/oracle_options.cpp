#include "oracle_options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <thread>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/utf8.h"
#include "fuselage/grid/fusionops.h"
#include "fuselage/oracle/policy_mix.h"
#include "fuselage/walk/tasks.h"
#include "options.h"
#include "oracle_source.h"

namespace fuselage::cli {
namespace {

using oracle::RowFormat;

constexpr std::int64_t most_graphs = 1'000'000'000;
constexpr std::int64_t most_shards = 99'999;  // five digits in names
constexpr double default_threshold = 0.001;

std::vector<RowFormat> read_formats(const std::string& text) {
  std::vector<RowFormat> formats;
  for (const std::string& item : split_list(text)) {
    const auto at = std::find(oracle::row_format_names.begin(), oracle::row_format_names.end(), item);
    if (at == oracle::row_format_names.end())
      fail("--format: {} is unknown; expected one or more of {}", quote(item),
           join_names(oracle::row_format_names));
    const auto format = static_cast<RowFormat>(at - oracle::row_format_names.begin());
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) formats.push_back(format);
  }
  std::sort(formats.begin(), formats.end());
  return formats;
}

// "3/16"
oracle::DataPart read_part(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    fail("--shard-of: {} is no part; expected I/N, such as 0/4: the first of four", quote(text));
  const auto of = read_integer("--shard-of", text.substr(slash + 1), {.min = 1, .max = most_shards});
  const auto index = read_integer("--shard-of", text.substr(0, slash), {.min = 0, .max = of - 1});
  return {.index = static_cast<std::size_t>(index), .of = static_cast<std::size_t>(of)};
}

std::string read_system(const OracleCommand& command, std::string_view usual) {
  if (command.system_file.empty()) return std::string(usual);
  std::string text = read_file(command.system_file);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (const std::size_t at = find_no_utf8(text); at != std::string::npos)
    fail("--system: {} is not UTF-8 in line {}; expected text in UTF-8", command.system_file,
         1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  return text;
}

// It stands in the card's front matter, and in the command.
void check_license(const std::string& license) {
  const bool is_plain = std::all_of(license.begin(), license.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '+';
  });
  if (license.empty() || !is_plain)
    fail("--license: {} is none; expected an identifier such as apache-2.0, of letters, digits, '.' and '-'",
         quote(license));
}

// Whose task, and whose policy, is only known when all is read; what neither family has is refused at once.
void check_tasks(const std::string& names) {
  if (names == "all") return;
  for (const std::string& name : split_list(names))
    if (!walk::find_task(name) && grid::find_fusionops_task(name) == nullptr)
      fail("--tasks: {} is unknown; expected all, or names that 'fuselage tasks' lists", quote(name));
}
void check_policy(const std::string& mix) {
  try {
    oracle::parse_policy_mix(mix, "--policy");
  } catch (const Error& error) {
    try {
      oracle::parse_grid_policy_mix(mix, "--policy");
    } catch (const Error&) {
      throw error;
    }
  }
}

// Is the file, or the first one of the directory, the contest's JSON?
bool looks_like_a_problem(const std::string& input) {
  if (input == "-") return false;  // can be read once only
  std::error_code error;
  std::string first = input;
  if (std::filesystem::is_directory(input, error)) {
    first.clear();
    for (const auto& entry : std::filesystem::directory_iterator(input))
      if (entry.path().extension() == ".json" && (first.empty() || entry.path().string() < first))
        first = entry.path().string();
  }
  if (!std::filesystem::is_regular_file(first, error)) return false;  // the reader says what is wrong
  const std::string text = read_file(first);
  return has_field(text, "op_types") && !has_field(text, "nodes");
}

// What the options say; else what a task or a file is of.
Family family_of(const OracleCommand& command) {
  if (const auto wanted = command.family.wanted()) return *wanted;
  for (const std::string& task : split_list(command.tasks))
    if (grid::find_fusionops_task(task) != nullptr) return Family::grid;
  for (const std::string& input : command.inputs)
    if (looks_like_a_problem(input)) return Family::grid;
  return Family::walk;
}

// The words that make the data set again, defaults included, in one order.
std::string command_words(const OracleCommand& command, const OracleSource& source,
                          const oracle::DataOptions& options) {
  std::string words = "fuselage oracle " + source.words;
  words += fmt::format(" --seed {} --rules {}", command.seed.value_or(0), source.rules);
  std::vector<std::string_view> formats;
  for (RowFormat format : options.formats) formats.push_back(oracle::name(format));
  words += fmt::format(" --format {} --threshold {} --steps {} --shard-size {}", fmt::join(formats, ","),
                       options.rows.threshold, source.steps, options.manifest.shard_size);
  if (!command.system_file.empty()) words += " --system " + command.system_file;
  if (command.plain) words += " --plain";
  if (command.zstd) words += " --zstd";
  if (command.tasks_in_train) words += " --tasks-in-train";
  if (command.license != OracleCommand{}.license) words += " --license " + command.license;
  if (!is_utf8(words)) fail("{} is not UTF-8; expected names that a manifest can hold", quote(words));
  return words;
}

}  // namespace

OracleJob oracle_job(const OracleCommand& command) {
  if (command.out.empty()) fail("--out: is missing; expected a directory to write, such as data");
  OracleSource source = family_of(command) == Family::grid ? grid_source(command) : walk_source(command);
  OracleJob job;
  oracle::DataOptions& options = job.options;
  options.out = command.out;
  options.formats = command.formats;
  options.rows = {.rules = source.rules,
                  .system = read_system(command, source.system),
                  .plain = command.plain,
                  .threshold = command.threshold.value_or(default_threshold)};
  options.tasks_in_train = command.tasks_in_train;
  options.threads = static_cast<int>(
      command.threads.value_or(std::max<std::int64_t>(1, std::thread::hardware_concurrency())));
  options.manifest = {.program = "fuselage " FUSELAGE_VERSION,
                      .family = std::string(name(source.family)),
                      .rules = options.rows.rules,
                      .inputs = source.inputs.dump(),
                      .labels = source.labels,
                      .license = command.license,
                      .system = options.rows.system,
                      .threshold = options.rows.threshold,
                      .zstd = command.zstd,
                      .shard_size = static_cast<std::size_t>(command.shard_size.value_or(200)),
                      .part = command.part};
  options.manifest.command = command_words(command, source, options);
  options.manifest.graphs = source.source->size();
  const std::size_t shards = options.manifest.all_shards();
  if (shards > static_cast<std::size_t>(most_shards))
    fail("--shard-size: {} makes {} shards; expected at most {} of them", options.manifest.shard_size, shards,
         most_shards);
  if (shards < options.manifest.part.of)
    fail("--shard-of: {} parts of {} shards; expected at most as many parts, or a lower --shard-size",
         options.manifest.part.of, shards);
  job.source = std::move(source.source);
  return job;
}

void add_oracle_options(CLI::App& app, OracleCommand& command) {
  const auto text = [&app](const char* flag, const char* value, const char* about, std::string& to) {
    add_text(app, {flag, value, about}, to);
  };
  add_family_option(app, command.family);
  add_integer(app, {"--graphs", "N", "graphs to draw, default 1000 (grid: 100) if there is no other source"},
              {.min = 0, .max = most_graphs}, command.graphs);
  add_form(app, {"--curriculum", "LOW:HIGH", "levels of the drawn graphs, 0 to 1, default 0.2:0.8"},
           [&command](const std::string& range) {
             command.curriculum = read_number_range("--curriculum", range, {.min = 0, .max = 1});
           });
  add_form(app, {"--kind", "KIND", "of the drawn graphs, in place of a curriculum: mixed or memory-bound"},
           [&command](const std::string& name) {
             command.kind =
                 static_cast<oracle::GraphKind>(read_choice("--kind", name, oracle::graph_kind_names));
           });
  add_form(app,
           {"--ops", "LOW-HIGH",
            "nodes of the drawn graphs, in place of a curriculum; ops of grid problems, default 8-32"},
           [&command](const std::string& range) {
             command.ops = read_int_range("--ops", range, {.min = 1, .max = most_oracle_ops});
           });
  add_form(app, {"--tasks", "NAMES", "fixed tasks, with commas, or all"},
           [&command](const std::string& names) {
             check_tasks(names);
             command.tasks = names;
           });
  add_texts(app, {"--input", "PATH", "a file of graphs, or a directory of such files"}, command.inputs);
  text("--transcripts", "FILE", "episodes of an agent, to label the states that it gets into",
       command.transcripts);
  add_form(app,
           {"--policy", "MIX",
            "whose states are visited, default optimal:0.5,eps0.1:0.3,heuristic:0.2; "
            "grid:\noptimal:0.4,eps0.3:0.4,greedy:0.2"},
           [&command](const std::string& mix) {
             check_policy(mix);
             command.policy = mix;
           });
  add_integer(app, {"--episodes", "N", "of the mix, a graph, default 3"}, {.min = 1, .max = 10'000},
              command.episodes);
  add_form(
      app,
      {"--format", "NAMES",
       "with commas, of sft (default), prompt-completion, dpo, kto, grpo, prm, raw; graphs is always there"},
      [&command](const std::string& names) { command.formats = read_formats(names); });
  add_form(
      app,
      {"--rules", "RULES",
       "seed-honest (default) or seed; of grid problems fusionops-honest (default),\nfusionops or mlsys"},
      [&command](const std::string& name) { command.family.rules = {parse_any_rules("--rules", name)}; });
  add_integer(app, {"--seed", "N", "default 0"}, {.min = 0}, command.seed);
  add_number(app, {"--threshold", "X", "what a bad answer loses at least, of the optimum, default 0.001"},
             {.min = 0, .max = 1}, command.threshold);
  add_integer(
      app,
      {"--steps", "N",
       "kernels priced, at most, of one search, default 1000000; grid: 5000, and 20 times\nas many by "
       "a problem's first search"},
      {.min = 1}, command.steps);
  add_integer(app, {"--candidates", "N", "grid: kernels of a state that are labelled, default 8"},
              {.min = 1, .max = 1'000}, command.candidates);
  app.add_flag("--plain", command.plain, "prompts as text rather than messages");
  text("--system", "FILE", "instructions before each observation; an empty file: none", command.system_file);
  app.add_flag("--tasks-in-train", command.tasks_in_train, "let the fixed tasks into the split train");
  add_form(app, {"--license", "ID", "of the data set, as its card says it, default apache-2.0"},
           [&command](const std::string& license) {
             check_license(license);
             command.license = license;
           });
  add_integer(app, {"--shard-size", "N", "graphs of a shard, default 200"}, {.min = 1, .max = most_graphs},
              command.shard_size);
  add_form(app, {"--shard-of", "I/N", "only the I-th of N parts, counted from 0"},
           [&command](const std::string& part) { command.part = read_part(part); });
  app.add_flag("--zstd", command.zstd, "compress the shards (.jsonl.zst)");
  add_number(app, {"--time", "SECONDS", "of the whole command: the same command goes on where it ended"},
             {.min = 1e-6, .max = 1e9}, command.time);
  add_integer(app, {"--threads", "N", "default: all cores; the files don't depend on it"},
              {.min = 1, .max = 1'024}, command.threads);
  text("--out", "DIR", "the directory to write", command.out);
  app.add_flag("--json", command.json, "say what was written as JSON");
}

}  // namespace fuselage::cli

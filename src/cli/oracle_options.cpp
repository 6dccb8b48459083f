#include "oracle_options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/tasks.h"
#include "options.h"
#include "range_option.h"
#include "transcript.h"

namespace fuselage::cli {
namespace {

namespace fs = std::filesystem;
using oracle::RowFormat;

constexpr std::int64_t most_graphs = 1'000'000'000;
constexpr std::int64_t most_shards = 99'999;  // five digits in names
constexpr std::int64_t most_ops = 1'000;
constexpr std::int64_t default_graphs = 1'000;
constexpr std::int64_t default_steps = 1'000'000;
constexpr double default_threshold = 0.001;
constexpr const char* default_mix = "optimal:0.5,eps0.1:0.3,heuristic:0.2";

constexpr const char* default_system =
    "You schedule a tensor graph on an accelerator, one node at a time and in the given order. For the "
    "current "
    "node decide whether it joins the kernel before it, the tile size, and which tensors stay in fast memory "
    "for later nodes. The lower the total latency of the whole graph, the better. Answer with one JSON "
    "object "
    "and nothing else: {\"fuse_with_prev\": true or false, \"tile\": 32, 64, 128 or 256, \"retain\": [ids]}";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> items;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return items;
    begin = end + 1;
  }
}

std::vector<RowFormat> parse_formats(const std::string& text) {
  std::vector<RowFormat> formats;
  for (const std::string& item : split(text.empty() ? "sft" : text, ',')) {
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
oracle::DataPart parse_part(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    fail("--shard-of: {} is no part; expected I/N, such as 0/4: the first of four", quote(text));
  const auto of = parse_count("--shard-of", text.substr(slash + 1), {.min = 1, .max = most_shards});
  const auto index = parse_count("--shard-of", text.substr(0, slash), {.min = 0, .max = of - 1});
  return {.index = static_cast<std::size_t>(index), .of = static_cast<std::size_t>(of)};
}

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

// Everything that the graphs come from, and what the manifest says of it.
class Reading {
 public:
  explicit Reading(const OracleCommand& command) : command_(command) {
    read_tasks();
    for (const std::string& input : command.inputs) read_input(input);
    if (!command.transcripts.empty()) read_transcripts();
    read_drawn();
  }

  std::vector<oracle::GivenGraph> given() { return std::move(given_); }
  const oracle::DrawnGraphs& drawn() const { return drawn_; }
  const Json& inputs() const { return inputs_; }
  // Options that say where graphs come from, with their defaults.
  const std::vector<std::string>& words() const { return words_; }

 private:
  void read_tasks() {
    if (command_.tasks.empty()) return;
    words_.push_back("--tasks " + command_.tasks);
    if (command_.tasks == "all") {
      for (const walk::TaskSpec& task : walk::tasks()) given_.push_back({walk::make_task(task)});
      return;
    }
    for (const std::string& name : split(command_.tasks, ',')) {
      const auto task = walk::find_task(name);
      if (!task)
        fail("--tasks: {} is unknown; expected all, or names that 'fuselage tasks' lists", quote(name));
      given_.push_back({walk::make_task(*task)});
    }
  }

  void note(const std::string& file, const std::string& text) {
    if (!is_utf8(file)) fail("{}: is not UTF-8; expected a name that a manifest can hold", quote(file));
    inputs_[file] = sha256_hex(text);
  }

  // A file, or the files of a directory.
  void read_input(const std::string& input) {
    words_.push_back("--input " + input);
    std::vector<std::string> files;
    std::error_code error;
    if (fs::is_directory(input, error)) {
      for (const auto& entry : fs::directory_iterator(input))
        if (entry.path().extension() == ".json" || entry.path().extension() == ".jsonl")
          files.push_back(entry.path().string());
      std::sort(files.begin(), files.end());
      if (files.empty()) fail("--input: {} holds no *.json or *.jsonl; expected graphs", input);
    } else {
      files.push_back(input);
    }
    for (const std::string& file : files) {
      const std::string text = read_file(file);
      note(file, text);
      for (Workload& workload : read_workloads(text, file)) given_.push_back({std::move(workload)});
    }
  }

  // Transcripts of one graph share it: one row in `graphs`, one value function.
  void read_transcripts() {
    if (command_.transcripts == "-") fail("--transcripts: - can't be read twice; expected a file");
    words_.push_back("--transcripts " + command_.transcripts);
    note(command_.transcripts, read_file(command_.transcripts));
    std::map<std::string, std::size_t> known;
    TranscriptReader reader(command_.transcripts, command_.rules);
    while (std::optional<Transcript> one = reader.next()) {
      if (one->rules != command_.rules)
        fail("{}: line {}: rules: {} is another rule set than the data set's; expected {}, or --rules {}",
             reader.source(), one->line, walk::name(one->rules), walk::name(command_.rules),
             walk::name(one->rules));
      const auto [at, is_new] = known.try_emplace(workload_to_json_line(one->workload), given_.size());
      if (is_new) given_.push_back({std::move(one->workload)});
      given_[at->second].played.push_back(
          {.policy = one->policy == "-" ? "transcript" : one->policy, .answers = std::move(one->answers)});
    }
    if (known.empty()) fail("{}: holds no transcript; expected one a line", command_.transcripts);
  }

  void read_drawn() {
    const bool others = !given_.empty();
    drawn_.count = static_cast<std::size_t>(command_.graphs.value_or(others ? 0 : default_graphs));
    if (drawn_.count == 0) {
      if (!others)
        fail("--graphs: 0 and no other source; expected graphs, --tasks, --input or --transcripts");
      for (const auto& [option, is_given] :
           {std::pair("--curriculum", !command_.curriculum.empty()),
            std::pair("--ops", !command_.ops.empty()), std::pair("--kind", command_.kind.has_value())})
        if (is_given) fail("{}: no graphs are drawn; expected it with --graphs only", option);
      return;
    }
    words_.push_back(fmt::format("--graphs {}", drawn_.count));
    const bool sized = !command_.ops.empty() || command_.kind;
    if (sized && !command_.curriculum.empty())
      fail("--curriculum: stands beside --ops or --kind, which replace it; expected one of them");
    if (!sized) {
      const NumberRange levels = parse_number_range(
          "--curriculum", command_.curriculum.empty() ? "0.2:0.8" : command_.curriculum, 0, 1);
      drawn_.low = levels.low;
      drawn_.high = levels.high;
      words_.push_back(fmt::format("--curriculum {}:{}", drawn_.low, drawn_.high));
      return;
    }
    const IntRange ops =
        parse_int_range("--ops", command_.ops.empty() ? "8-32" : command_.ops, {.min = 1, .max = most_ops});
    drawn_.draw = oracle::DrawOptions{
        .kind = command_.kind.value_or(oracle::GraphKind::mixed), .min_ops = ops.low, .max_ops = ops.high};
    words_.push_back(
        fmt::format("--kind {} --ops {}-{}", oracle::name(drawn_.draw->kind), ops.low, ops.high));
  }

  const OracleCommand& command_;
  std::vector<oracle::GivenGraph> given_;
  oracle::DrawnGraphs drawn_;
  Json inputs_ = Json::object();  // by path
  std::vector<std::string> words_;
};

std::string read_system(const OracleCommand& command) {
  if (command.system_file.empty()) return default_system;
  std::string text = read_file(command.system_file);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (!is_utf8(text)) fail("--system: {} is not UTF-8; expected text", command.system_file);
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

// The words that make the data set again, defaults included, in one order.
std::string command_words(const OracleCommand& command, const Reading& reading,
                          const oracle::DataOptions& options, const oracle::LabelOptions& labels,
                          bool mixes) {
  std::string words = fmt::format("fuselage oracle {}", fmt::join(reading.words(), " "));
  // Beside transcripts, --policy also says that their graphs are played by the mix.
  if (mixes && (!command.policy.empty() || command.transcripts.empty()))
    words += " --policy " + (command.policy.empty() ? default_mix : command.policy);
  if (mixes) words += fmt::format(" --episodes {}", labels.episodes);
  words += fmt::format(" --seed {} --rules {}", labels.seed, options.rows.rules);
  std::vector<std::string_view> formats;
  for (RowFormat format : options.formats) formats.push_back(oracle::name(format));
  words += fmt::format(" --format {} --threshold {} --steps {} --shard-size {}", fmt::join(formats, ","),
                       options.rows.threshold, labels.budget.steps, options.manifest.shard_size);
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
  if (command.rules == walk::Rules::physical)
    fail("--rules: physical has no episodes; expected seed or seed-honest");
  check_license(command.license);
  Reading reading(command);
  const bool mixes = reading.drawn().count > 0 || !command.policy.empty() || !command.tasks.empty() ||
                     !command.inputs.empty();
  oracle::WalkSourceOptions source;
  source.labels = {
      .rules = command.rules,
      .mix = oracle::parse_policy_mix(command.policy.empty() ? default_mix : command.policy, "--policy"),
      .episodes = static_cast<int>(command.episodes.value_or(3)),
      .seed = static_cast<std::uint64_t>(command.seed.value_or(0))};
  source.labels.budget.steps = static_cast<std::uint64_t>(command.steps.value_or(default_steps));
  source.mix_with_played = !command.policy.empty();
  source.drawn = reading.drawn();

  OracleJob job;
  oracle::DataOptions& options = job.options;
  options.out = command.out;
  options.formats = parse_formats(command.formats);
  options.rows = {.rules = std::string(walk::name(command.rules)),
                  .system = read_system(command),
                  .plain = command.plain,
                  .threshold = command.threshold.empty()
                                   ? default_threshold
                                   : parse_number("--threshold", command.threshold, 0, 1)};
  options.tasks_in_train = command.tasks_in_train;
  options.threads = static_cast<int>(
      command.threads.value_or(std::max<std::int64_t>(1, std::thread::hardware_concurrency())));
  options.manifest = {.program = "fuselage " FUSELAGE_VERSION,
                      .family = "walk",
                      .rules = options.rows.rules,
                      .inputs = reading.inputs().dump(),
                      .license = command.license,
                      .system = options.rows.system,
                      .threshold = options.rows.threshold,
                      .zstd = command.zstd,
                      .shard_size = static_cast<std::size_t>(command.shard_size.value_or(200)),
                      .part = parse_part(command.shard_of)};
  options.manifest.command = command_words(command, reading, options, source.labels, mixes);
  source.given = reading.given();
  auto walk_source = std::make_unique<oracle::WalkSource>(std::move(source));
  options.manifest.graphs = walk_source->size();
  const std::size_t shards = options.manifest.all_shards();
  if (shards > static_cast<std::size_t>(most_shards))
    fail("--shard-size: {} makes {} shards; expected at most {} of them", options.manifest.shard_size, shards,
         most_shards);
  if (shards < options.manifest.part.of)
    fail("--shard-of: {} parts of {} shards; expected at most as many parts, or a lower --shard-size",
         options.manifest.part.of, shards);
  job.source = std::move(walk_source);
  return job;
}

void add_oracle_options(CLI::App& app, OracleCommand& command) {
  const auto text = [&app](const char* flag, const char* value, const char* about, std::string& to) {
    name_value(app.add_option(flag, to, about), value);
  };
  add_count(app, {"--graphs", "N", "graphs to draw, default 1000 if there is no other source"},
            {.min = 0, .max = most_graphs}, command.graphs);
  text("--curriculum", "LOW:HIGH", "levels of the drawn graphs, 0 to 1, default 0.2:0.8", command.curriculum);
  name_value(app.add_option_function<std::string>(
                 "--kind",
                 [&command](const std::string& name) {
                   const auto at =
                       std::find(oracle::graph_kind_names.begin(), oracle::graph_kind_names.end(), name);
                   if (at == oracle::graph_kind_names.end())
                     fail("--kind: {} is unknown; expected one of {}", quote(name),
                          join_names(oracle::graph_kind_names));
                   command.kind = static_cast<oracle::GraphKind>(at - oracle::graph_kind_names.begin());
                 },
                 "of the drawn graphs, in place of a curriculum: mixed or memory-bound"),
             "KIND");
  text("--ops", "LOW-HIGH", "nodes of the drawn graphs, in place of a curriculum", command.ops);
  text("--tasks", "NAMES", "fixed tasks, with commas, or all", command.tasks);
  name_value(app.add_option("--input", command.inputs, "a file of graphs, or a directory of such files"),
             "PATH");
  text("--transcripts", "FILE", "episodes of an agent, to label the states that it gets into",
       command.transcripts);
  text("--policy", "MIX", "whose states are visited, default optimal:0.5,eps0.1:0.3,heuristic:0.2",
       command.policy);
  add_count(app, {"--episodes", "N", "of the mix, a graph, default 3"}, {.min = 1, .max = 10'000},
            command.episodes);
  text("--format", "NAMES",
       "with commas, of sft (default), prompt-completion, dpo, kto, grpo, prm, raw; graphs is always there",
       command.formats);
  add_choice(app, {"--rules", "RULES", "seed-honest (default) or seed"}, walk::rules_names, command.rules);
  add_count(app, {"--seed", "N", "default 0"}, {.min = 0}, command.seed);
  text("--threshold", "X", "what a bad answer loses at least, of the optimum, default 0.001",
       command.threshold);
  add_count(app, {"--steps", "N", "kernels priced, at most, of one search, default 1000000"}, {.min = 1},
            command.steps);
  app.add_flag("--plain", command.plain, "prompts as text rather than messages");
  text("--system", "FILE", "instructions before each observation; an empty file: none", command.system_file);
  app.add_flag("--tasks-in-train", command.tasks_in_train, "let the fixed tasks into the split train");
  text("--license", "ID", "of the data set, as its card says it, default apache-2.0", command.license);
  add_count(app, {"--shard-size", "N", "graphs of a shard, default 200"}, {.min = 1, .max = most_graphs},
            command.shard_size);
  text("--shard-of", "I/N", "only the I-th of N parts, counted from 0", command.shard_of);
  app.add_flag("--zstd", command.zstd, "compress the shards (.jsonl.zst)");
  add_count(app, {"--threads", "N", "default: all cores; the files don't depend on it"},
            {.min = 1, .max = 1'024}, command.threads);
  text("--out", "DIR", "the directory to write", command.out);
  app.add_flag("--json", command.json, "say what was written as JSON");
}

}  // namespace fuselage::cli

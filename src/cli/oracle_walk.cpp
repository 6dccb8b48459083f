// The walk family's graphs for `fuselage oracle`.
#include <fmt/ranges.h>

#include <map>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/data_source.h"
#include "fuselage/walk/tasks.h"
#include "options.h"
#include "oracle_source.h"
#include "range_option.h"
#include "transcript.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t default_graphs = 1'000;
constexpr std::int64_t default_steps = 1'000'000;
constexpr const char* default_mix = "optimal:0.5,eps0.1:0.3,heuristic:0.2";

constexpr const char* default_system =
    "You schedule a tensor graph on an accelerator, one node at a time and in the given order. For the "
    "current "
    "node decide whether it joins the kernel before it, the tile size, and which tensors stay in fast memory "
    "for later nodes. The lower the total latency of the whole graph, the better. Answer with one JSON "
    "object "
    "and nothing else: {\"fuse_with_prev\": true or false, \"tile\": 32, 64, 128 or 256, \"retain\": [ids]}";

// Everything that the graphs come from, and what the manifest says of it.
class Reading {
 public:
  Reading(const OracleCommand& command, walk::Rules rules) : command_(command), rules_(rules) {
    read_tasks();
    for (const std::string& input : command.inputs) read_input(input);
    if (!command.transcripts.empty()) read_transcripts();
    read_drawn();
  }

  std::vector<oracle::GivenGraph> given() { return std::move(given_); }
  const oracle::DrawnGraphs& drawn() const { return drawn_; }
  const OracleInputs& inputs() const { return inputs_; }

 private:
  void read_tasks() {
    if (command_.tasks.empty()) return;
    inputs_.word("--tasks " + command_.tasks);
    if (command_.tasks == "all") {
      for (const walk::TaskSpec& task : walk::tasks()) given_.push_back({walk::make_task(task)});
      return;
    }
    for (const std::string& name : split_list(command_.tasks)) {
      const auto task = walk::find_task(name);
      if (!task)
        fail("--tasks: {} is unknown; expected all, or names that 'fuselage tasks' lists", quote(name));
      given_.push_back({walk::make_task(*task)});
    }
  }

  void read_input(const std::string& input) {
    for (const OracleInputs::File& file : inputs_.read(input, {".json", ".jsonl"}))
      for (Workload& workload : read_workloads(file.text, file.name)) given_.push_back({std::move(workload)});
  }

  // Transcripts of one graph share it: one row in `graphs`, one value function.
  void read_transcripts() {
    if (command_.transcripts == "-") fail("--transcripts: - can't be read twice; expected a file");
    inputs_.word("--transcripts " + command_.transcripts);
    inputs_.note(command_.transcripts, read_file(command_.transcripts));
    std::map<std::string, std::size_t> known;
    TranscriptReader reader(command_.transcripts, rules_);
    while (std::optional<Transcript> one = reader.next()) {
      if (one->rules != rules_)
        fail("{}: line {}: rules: {} is another rule set than the data set's; expected {}, or --rules {}",
             reader.source(), one->line, walk::name(one->rules), walk::name(rules_), walk::name(one->rules));
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
           {std::pair("--curriculum", command_.curriculum.has_value()),
            std::pair("--ops", command_.ops.has_value()), std::pair("--kind", command_.kind.has_value())})
        if (is_given) fail("{}: no graphs are drawn; expected it with --graphs only", option);
      return;
    }
    inputs_.word(fmt::format("--graphs {}", drawn_.count));
    const bool sized = command_.ops || command_.kind;
    if (sized && command_.curriculum)
      fail("--curriculum: stands beside --ops or --kind, which replace it; expected one of them");
    if (!sized) {
      const NumberRange levels = command_.curriculum.value_or(NumberRange{.min = 0.2, .max = 0.8});
      drawn_.low = levels.min;
      drawn_.high = levels.max;
      inputs_.word(fmt::format("--curriculum {}:{}", drawn_.low, drawn_.high));
      return;
    }
    const IntRange ops = command_.ops.value_or(IntRange{.low = 8, .high = 32});
    drawn_.draw = oracle::DrawOptions{
        .kind = command_.kind.value_or(oracle::GraphKind::mixed), .min_ops = ops.low, .max_ops = ops.high};
    inputs_.word(fmt::format("--kind {} --ops {}-{}", oracle::name(drawn_.draw->kind), ops.low, ops.high));
  }

  const OracleCommand& command_;
  walk::Rules rules_;
  std::vector<oracle::GivenGraph> given_;
  oracle::DrawnGraphs drawn_;
  OracleInputs inputs_;
};

// As the manifest's command names them.
std::string words_of(const OracleCommand& command, const Reading& reading, int episodes) {
  std::string words = fmt::format("{}", fmt::join(reading.inputs().words(), " "));
  const bool mixes = reading.drawn().count > 0 || !command.policy.empty() || !command.tasks.empty() ||
                     !command.inputs.empty();
  // Beside transcripts, --policy also says that their graphs are played by the mix.
  if (mixes && (!command.policy.empty() || command.transcripts.empty()))
    words += " --policy " + (command.policy.empty() ? default_mix : command.policy);
  if (mixes) words += fmt::format(" --episodes {}", episodes);
  return words;
}

}  // namespace

OracleSource walk_source(const OracleCommand& command) {
  const auto rules = std::get<walk::Rules>(command.family.rules.empty() ? walk::Rules::seed_honest
                                                                        : command.family.rules.front());
  if (rules == walk::Rules::physical) fail("--rules: physical has no episodes; expected seed or seed-honest");
  if (command.candidates) fail("--candidates: is about grid problems; expected it with --family grid");
  Reading reading(command, rules);
  oracle::WalkSourceOptions source;
  source.labels = {
      .rules = rules,
      .mix = oracle::parse_policy_mix(command.policy.empty() ? default_mix : command.policy, "--policy"),
      .episodes = static_cast<int>(command.episodes.value_or(3)),
      .seed = static_cast<std::uint64_t>(command.seed.value_or(0))};
  source.labels.budget.steps = static_cast<std::uint64_t>(command.steps.value_or(default_steps));
  source.mix_with_played = !command.policy.empty();
  source.drawn = reading.drawn();
  OracleSource made{.source = nullptr,
                    .family = Family::walk,
                    .rules = std::string(walk::name(rules)),
                    .words = words_of(command, reading, source.labels.episodes),
                    .inputs = reading.inputs().noted(),
                    .steps = source.labels.budget.steps,
                    .system = default_system};
  source.given = reading.given();
  made.source = std::make_unique<oracle::WalkSource>(std::move(source));
  return made;
}

}  // namespace fuselage::cli

#include "fuselage/oracle/tune.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli.h"
#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/evaluator_process.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/plan_json.h"
#include "interrupt.h"
#include "options.h"
#include "plan_paths.h"
#include "report_cells.h"
#include "search_store.h"
#include "store_option.h"
#include "targets.h"
#include "terminal.h"
#include "tune_log.h"
#include "tune_model.h"
#include "tune_report.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(For schedules whose latency must be measured: many plans are proposed by evolution, a trained model
puts them in order without pricing them, the best few are measured, a ranker learns from the answers
how much to trust the model, and so on until the trials are spent. Rules seed-honest, fixed order.
Without --evaluate-with the roofline measures (where 'fuselage search' proves the optimum at once):
that is for trying it out.

CMD is started by /bin/sh -c once for each worker, reads a plan a line on its stdin and answers each
with a line on its stdout:
  {"id": 7, "plan": {...}}      a plan file as 'fuselage search --out' writes it, in one line
  {"id": 7, "latency": 123.4}   any unit, above 0; or {"id": 7, "error": "why it can't be run"}
What it says on stderr is shown. If it ends, says nothing for --timeout seconds or something else, it
is killed with all that it started, and the plan is tried again on a new one; after --retries more
attempts the plan is bad: it ranks last and is not tried again. A latency that is NaN, infinite or not
above 0, and an error, make it bad at once. An answer to nothing that was asked is ignored. The plan file
of --out keeps the roofline's latency, which 'fuselage check' knows; the one measured is in the log.

No plan is measured twice. The same options and answers give the same trials, whatever the workers and
the order of the answers. With Ctrl-C the best plan so far is printed; with --log the same command with
--resume goes on from there, as if it had never stopped, also with more --trials.

Exit code: 0 there is a plan; 1 all trials failed; 2 bad input, or a CMD that never answers.

Examples:
  fuselage tune task4_mixed
  fuselage tune all --trials 256 --model none
  fuselage tune graph.json --evaluate-with './measure --board 3' --timeout 20 --log run.jsonl --out best.json
  fuselage tune graph.json --evaluate-with './measure --board 3' --timeout 20 --log run.jsonl --resume)";

constexpr std::uint64_t proof_steps = 500'000;  // kernels priced, for the gap that is reported

struct TuneCommand {
  TargetOptions targets;
  std::string model, evaluator, log, out, store;
  std::optional<std::int64_t> trials, batch, proposals, generations, seed, workers, retries;
  std::optional<double> timeout = 60;
  bool resume = false, json = false, no_refit = false, no_store = false;

  bool external() const { return !evaluator.empty(); }
};

// What one graph shares with the next.
struct Session {
  const TuneCommand& command;
  oracle::TuneOptions options;
  TuneModel model;
  TuneLog log;
  SearchStore store;
};

oracle::TuneOptions tune_options(const TuneCommand& command) {
  oracle::TuneOptions options;
  const auto set = [](int& value, const std::optional<std::int64_t>& given) {
    if (given) value = static_cast<int>(*given);
  };
  set(options.trials, command.trials);
  set(options.batch, command.batch);
  set(options.proposals, command.proposals);
  set(options.generations, command.generations);
  constexpr std::int64_t most_candidates = 1'000'000;  // laid before the model at once
  if (std::int64_t{options.batch} * options.proposals > most_candidates)
    fail("--proposals: {} for each of {} plans are more than a million at once; expected fewer of either",
         options.proposals, options.batch);
  options.seed = static_cast<std::uint64_t>(command.seed.value_or(0));
  return options;
}

// All that decides about the trials but their number.
ordered_json settings_of(const Session& session) {
  const bool filtered = session.model.model.has_value();
  return {{"evaluator", session.command.external() ? session.command.evaluator : "roofline"},
          {"model", filtered ? session.model.fingerprint : "none"},
          {"refit", filtered && !session.command.no_refit},
          {"seed", session.options.seed},
          {"batch", session.options.batch},
          {"proposals", filtered ? session.options.proposals : 1},
          {"generations", filtered ? session.options.generations : 1}};
}

std::unique_ptr<oracle::Evaluator> evaluator_of(const Workload& workload, const TuneCommand& command) {
  if (!command.external()) return std::make_unique<oracle::RooflineEvaluator>(workload);
  return std::make_unique<oracle::ProcessEvaluator>(
      workload, oracle::ProcessOptions{.command = command.evaluator,
                                       .workers = static_cast<int>(command.workers.value_or(1)),
                                       .timeout_seconds = *command.timeout,
                                       .retries = static_cast<int>(command.retries.value_or(2)),
                                       .cancel = &stop_on_interrupt(),
                                       .note = [](const std::string& text) { print_note(text); }});
}

std::unique_ptr<oracle::Filter> filter_of(const walk::EpisodeContext& context, const Session& session) {
  if (!session.model.model) return nullptr;
  if (session.command.no_refit) return std::make_unique<oracle::ModelFilter>(context, *session.model.model);
  return std::make_unique<oracle::RefitFilter>(context, *session.model.model, session.options.seed);
}

// What the roofline's figures are measured against. Figures that can't be had are left out.
void add_references(const Workload& workload, Session& session, TuneAnswer& answer) {
  constexpr walk::Rules rules = walk::Rules::seed_honest;
  answer.known = session.store.known(oracle::store_key(workload, rules, walk::Order::fixed));
  const oracle::Solution solved = oracle::solve(
      workload, {.rules = rules, .budget = {.steps = proof_steps, .cancel = session.options.cancel}});
  answer.greedy = solved.greedy_latency;
  answer.lower_bound = solved.lower_bound;
  answer.is_proven = solved.proof == search::Proof::optimal;
}

// Returns the plan as a file; its latency is the roofline's.
walk::PlanFile plan_file(const Workload& workload, const TuneAnswer& answer) {
  const walk::Plan& plan = answer.tuned->trials[*answer.tuned->best].plan;
  walk::PlanFile file{.workload = workload, .kernels = plan};
  file.latency =
      oracle::simulate(workload.graph, workload.hardware, plan, {.rules = walk::Rules::seed_honest}).latency;
  file.greedy_latency = answer.greedy;
  file.lower_bound = answer.lower_bound;
  if (answer.lower_bound && meets(*answer.lower_bound, file.latency))
    file.proof = search::name(search::Proof::optimal);
  file.actions = walk::actions_of(plan);
  return file;
}

oracle::Tuned run_tuner(const Workload& workload, Session& session, TuneAnswer& answer) {
  const walk::EpisodeContext context(workload);
  const std::unique_ptr<oracle::Evaluator> evaluator = evaluator_of(workload, session.command);
  const std::unique_ptr<oracle::Filter> filter = filter_of(context, session);
  const Progress progress(static_cast<std::size_t>(session.options.trials));
  oracle::TuneOptions options = session.options;
  options.recall = [&](std::int64_t trial, const walk::Plan& plan) {
    return session.log.recall(trial, plan);
  };
  options.answered = [&](const oracle::Trial& trial) { session.log.add(trial); };
  options.progress = [&](const std::vector<oracle::Trial>& trials) {
    double least = std::numeric_limits<double>::infinity();
    for (const oracle::Trial& trial : trials) least = std::min(least, trial.latency());
    progress.show(trials.size() - 1, fmt::format("{}: best {:.6g}", workload.name, least));
  };
  oracle::Tuned tuned = oracle::tune(context, *evaluator, filter.get(), options);
  answer.recalled = session.log.recalled();
  if (const auto* process = dynamic_cast<oracle::ProcessEvaluator*>(evaluator.get()))
    answer.strays = process->strays();
  return tuned;
}

TuneAnswer tune_one(const Workload& workload, std::size_t index, Session& session,
                    const std::string& plan_path) {
  TuneAnswer answer;
  answer.name = workload.name;
  answer.ops = workload.graph.size();
  ordered_json header = {{"fuselage_tune", 1}, {"graph", index}, {"name", workload.name}};
  header["problem"] = oracle::store_key(workload, walk::Rules::seed_honest, walk::Order::fixed);
  header.update(settings_of(session));
  session.log.begin(header);
  const auto start = std::chrono::steady_clock::now();
  answer.tuned = run_tuner(workload, session, answer);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!answer.found()) {
    if (answer.tuned->stop != oracle::TuneStop::cancelled)
      answer.error = fmt::format("{}: all {} trials failed; the last one: {}", workload.name,
                                 answer.tuned->trials.size(), answer.tuned->trials.back().measured.failure);
    return answer;
  }
  answer.overflows =
      oracle::overflows(workload, answer.tuned->trials[*answer.tuned->best].plan, walk::Rules::seed_honest);
  if (!session.command.external()) add_references(workload, session, answer);
  if (!plan_path.empty()) {
    write_file_atomically(plan_path, plan_to_json(plan_file(workload, answer)));
    answer.plan_path = plan_path;
  }
  return answer;
}

void check(const TuneCommand& command) {
  if (command.resume && command.log.empty()) fail("--resume: there is no log; expected --log FILE with it");
  const bool only_external = command.workers || command.retries;
  if (only_external && !command.external())
    fail("--workers and --retries are about an evaluator; expected --evaluate-with CMD with them");
}

int tune(const TuneCommand& command) {
  check(command);
  const std::vector<Workload> workloads = read_targets(command.targets);
  const std::vector<std::string> paths =
      plan_paths(names_of(workloads), command.out, command.targets.targets);
  Session session = {.command = command,
                     .options = tune_options(command),
                     .model = read_tune_model(command.model),
                     .log = TuneLog(command.log, command.resume),
                     .store = SearchStore(command.store, !command.no_store && !command.external())};
  session.options.cancel = &stop_on_interrupt();
  std::vector<TuneAnswer> answers;
  for (std::size_t i = 0; i < workloads.size() && !*session.options.cancel; ++i)
    answers.push_back(tune_one(workloads[i], i, session, paths[i]));
  TuneHeading heading = {.external = command.external(), .settings = {{"trials", session.options.trials}}};
  heading.settings.update(settings_of(session));
  write_stdout(command.json ? dump(tune_json(answers, heading)) : tune_table(answers, heading));
  int exit_code = exit_ok;
  for (const TuneAnswer& answer : answers) {
    if (!answer.error.empty()) print_error(answer.error);
    if (!answer.found()) exit_code = exit_negative;
  }
  if (*session.options.cancel)
    print_note(command.log.empty() ? "interrupted" : "interrupted; the same command with --resume goes on");
  return exit_code;
}

void add_evaluator_options(CLI::App& command, const std::shared_ptr<TuneCommand>& options) {
  add_text(command, {"--evaluate-with", "CMD", "a program that measures plans, instead of the roofline"},
           options->evaluator);
  add_integer(command, {"--workers", "N", "of CMD at once, default 1"}, {.min = 1, .max = 1024},
              options->workers);
  add_number(command, {"--timeout", "SECONDS", "for one answer of CMD, default 60"},
             {.min = 1e-3, .max = 1e7}, options->timeout);
  add_integer(command, {"--retries", "N", "attempts after one that failed, default 2"},
              {.min = 0, .max = 1000}, options->retries);
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("tune", "Find good schedules with few measurements");
  command.footer(footer);
  auto options = std::make_shared<TuneCommand>();
  add_target_options(command, options->targets);
  add_integer(command, {"--trials", "N", "plans measured, at most, default 64"}, {.min = 1, .max = 1'000'000},
              options->trials);
  add_integer(command, {"--batch", "N", "plans measured before learning from them, default 8"},
              {.min = 1, .max = 10'000}, options->batch);
  add_integer(command, {"--proposals", "N", "plans proposed for each that is measured, default 64"},
              {.min = 1, .max = 100'000}, options->proposals);
  add_integer(command, {"--generations", "N", "in which they are proposed, default 2"},
              {.min = 1, .max = 1000}, options->generations);
  add_text(command,
           {"--model", "PATH", "a file of 'fuselage train', a bundle, or none; default models/default"},
           options->model);
  command.add_flag("--no-refit", options->no_refit, "trust the model alone");
  add_integer(command, {"--seed", "N", "default 0"}, {.min = 0}, options->seed);
  add_evaluator_options(command, options);
  add_text(command, {"--log", "FILE", "every trial, as JSON lines"}, options->log);
  command.add_flag("--resume", options->resume, "take from the log what was measured already");
  add_text(command, {"--out", "PATH", "where the plans go: a directory, or one .json file"}, options->out);
  add_store_option(command, options->store);
  command.add_flag("--no-store", options->no_store, "don't look at the best-known store");
  command.add_flag("--json", options->json, "one JSON document instead of the table");
  command.callback([options, &exit_code] { exit_code = tune(*options); });
}

}  // namespace fuselage::cli

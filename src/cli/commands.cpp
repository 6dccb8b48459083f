#include "commands.h"

#include <CLI/CLI.hpp>

#include "cli.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer = R"(Start here:
  fuselage search all --out plans     the best schedule of the five fixed tasks, proven
  fuselage explain plans/task4_mixed.json
  fuselage search --help

Exit code: 0 all is well, 1 the answer is no, 2 bad usage or input, 3 a bug; 130 or 143 for a command
that Ctrl-C or SIGTERM ended while it read its input.)";

}  // namespace

void add_commands(CLI::App& app, int& exit_code) {
  app.name("fuselage");
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.footer(footer);
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "fuselage " FUSELAGE_VERSION, "print the version and exit");
  add_search(app, exit_code);
  add_explain(app, exit_code);
  add_check(app, exit_code);
  add_evaluate(app, exit_code);
  add_generate(app, exit_code);
  add_tasks(app, exit_code);
  add_play(app, exit_code);
  add_replay(app, exit_code);
  add_best(app, exit_code);
  add_headroom(app, exit_code);
  add_trajectories(app, exit_code);
  add_rank_eval(app, exit_code);
  add_train(app, exit_code);
  add_tune(app, exit_code);
  add_model(app, exit_code);
  add_regret(app, exit_code);
  add_leaderboard(app, exit_code);
  add_oracle(app, exit_code);
  add_serve(app, exit_code);
  add_audit(app, exit_code);
  add_counterfactuals(app, exit_code);
  add_report(app, exit_code);
  add_export(app, exit_code);
  add_plot(app, exit_code);
  for (CLI::App* command : app.get_subcommands(nullptr)) command->group("Commands");
}

}  // namespace fuselage::cli

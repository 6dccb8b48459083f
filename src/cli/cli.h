// What the commands share: how each one joins the program and how any of them ends. A command is one file
// with one function here, which declares its options and what it does; main.cpp alone knows how a line of
// arguments becomes a call and an exception an exit code.
#pragma once

namespace CLI {
class App;
}

namespace fuselage::cli {

// Exit codes, the same for every command.
inline constexpr int exit_ok = 0;
inline constexpr int exit_negative = 1;   // the answer is no: an illegal plan, a figure that differs
inline constexpr int exit_bad_input = 2;  // bad usage or input: Error, or an option that CLI11 refuses
inline constexpr int exit_internal = 3;   // a broken invariant; always a bug

// Each adds its subcommand. If that is the one called it runs while the arguments are parsed, prints its
// answer on stdout, and sets `exit_code` unless all is well; Error and std::logic_error are main's to report.
// `exit_code` must live as long as `app`.
void add_search(CLI::App& app, int& exit_code);
void add_generate(CLI::App& app, int& exit_code);
void add_tasks(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_evaluate(CLI::App& app, int& exit_code);
void add_play(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_best(CLI::App& app, int& exit_code);
void add_headroom(CLI::App& app, int& exit_code);
void add_trajectories(CLI::App& app, int& exit_code);
void add_rank_eval(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_model(CLI::App& app, int& exit_code);
void add_regret(CLI::App& app, int& exit_code);
void add_leaderboard(CLI::App& app, int& exit_code);
void add_oracle(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_audit(CLI::App& app, int& exit_code);
void add_counterfactuals(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_plot(CLI::App& app, int& exit_code);

}  // namespace fuselage::cli

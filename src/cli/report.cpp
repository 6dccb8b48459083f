#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli.h"
#include "fuselage/core/files.h"
#include "fuselage/report/label.h"
#include "options.h"
#include "plan_views.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(One page of HTML, with nothing beside it and no network: the graph with its kernels, when each runs and
what limits it, what fast memory holds, the roofline, and a table with the figures of 'fuselage explain'.
Plans of one graph are side by side: each part where they differ, and the time it is worth. Plans of several
graphs share the page. --log adds how a search came to its plan: the file that 'search --log' wrote.

Grid plans need --problem, as in 'fuselage explain'; all plans of a page are then of that problem.
Drawings are made by graphviz: seconds for 2,000 ops, a minute at most for one. Those of more than 4,000 nodes are
left out, and all the rest is there.

Exit code: 0; 1 if a plan is illegal (the page ends at the kernel at fault, and says why), 2 for bad input.

Examples:
  fuselage report out/*.json --greedy --out report.html
  fuselage search task4_mixed --out best.json --log search.jsonl
  fuselage report best.json --log search.jsonl --out task4.html
  fuselage report solution.json other.json --problem problem.json --out grid.html)";

struct ReportCommand {
  PlanViewOptions plans = {};
  std::string log;
  std::string out;
};

int make_report(const ReportCommand& command) {
  refuse_overwriting(command.out, command.plans.files);
  if (!command.log.empty()) refuse_overwriting(command.out, {command.log});
  std::vector<report::PageGraph> graphs = read_plan_views(command.plans);
  if (!command.log.empty()) add_search_log(command.log, graphs);
  std::optional<Progress> progress;
  const auto drawn = [&](std::size_t done, std::size_t all) {
    if (!progress) progress.emplace(all);
    progress->show(done - 1, "drawings");
  };
  const report::Page page = report::page_of(graphs, {.version = FUSELAGE_VERSION, .drawn = drawn});
  progress.reset();
  if (command.out == "-")
    write_stdout(page.html);
  else
    write_file_atomically(command.out, page.html);
  for (const std::string& note : page.notes) print_note(note);
  bool legal = true;
  std::size_t plans = 0;
  for (const report::PageGraph& graph : graphs)
    for (const report::Schedule& plan : graph.plans) {
      ++plans;
      legal = legal && plan.legal();
      if (!plan.legal())
        print_note(fmt::format("{}, {}: illegal, {}: {}", report::label_of(graph.subject.name, 60),
                               plan.label, plan.fault->code, plan.fault->message));
    }
  if (command.out != "-")
    write_stdout(fmt::format("{} plan{} of {} graph{}: {} ({} KB)\n", plans, plans == 1 ? "" : "s",
                             graphs.size(), graphs.size() == 1 ? "" : "s", command.out,
                             grouped(std::uint64_t{page.html.size() / 1024})));
  return legal ? exit_ok : exit_negative;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("report", "Make a page that shows plans: drawings, charts, tables");
  command.footer(footer);
  auto options = std::make_shared<ReportCommand>();
  add_arguments(command, "PLAN", "plan files, as 'fuselage search --out' writes them; '-' for stdin",
                options->plans.files)
      ->required();
  add_text(command, {"--out", "FILE", "the page; '-' for stdout"}, options->out)->required();
  command.add_flag("--greedy", options->plans.greedy, "beside each, greedy's plan of its graph");
  add_text(command, {"--log", "FILE", "what 'fuselage search --log' wrote"}, options->log);
  add_grid_plan_options(command, options->plans.grid);
  command.callback([options, &exit_code] { exit_code = make_report(*options); });
}

}  // namespace fuselage::cli

#include "fuselage/report/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/report/drawing.h"
#include "fuselage/report/gnuplot.h"
#include "fuselage/report/label.h"
#include "fuselage/report/schedule_plots.h"
#include "options.h"
#include "plan_views.h"
#include "report_cells.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(chrome-trace  opens in Perfetto (ui.perfetto.dev) and chrome://tracing: kernels with launch and compute,
              transfers, and what fast memory holds; a millisecond is a cycle (grid: a time unit)
dot           the graph for graphviz, a cluster for every kernel
svg           --drawing graph (by graphviz), timeline, memory or roofline (by gnuplot)
csv           a row a kernel
json          graph, machine, kernels, totals: all that 'fuselage report' draws

A grid plan needs --problem, as in 'fuselage explain'.

Exit code: 0; 1 if the plan is illegal (what is written ends at the kernel at fault), 2 for bad input.

Examples:
  fuselage export out/task4_mixed.json --format chrome-trace --out trace.json
  fuselage export out/task4_mixed.json --format svg --drawing roofline --out roofline.svg
  fuselage export out/task4_mixed.json --format dot | dot -Tpdf > graph.pdf
  fuselage export solution.json --problem problem.json --format csv)";

enum class Format : std::uint8_t { chrome_trace, dot, svg, csv, json };
constexpr std::array<std::string_view, 5> format_names = {"chrome-trace", "dot", "svg", "csv", "json"};
enum class Drawing : std::uint8_t { graph, timeline, memory, roofline };
constexpr std::array<std::string_view, 4> drawing_names = {"graph", "timeline", "memory", "roofline"};

struct ExportCommand {
  std::string file;
  GridPlanOptions grid = {};
  Format format = Format::json;
  Drawing drawing = Drawing::graph;
  std::string out = "-";
};

std::string svg_of(const ExportCommand& command, const report::Subject& subject,
                   const report::Schedule& plan) {
  if (command.drawing == Drawing::graph) {
    if (const std::size_t nodes = report::drawn_graph(subject, plan).nodes.size(); nodes > report::most_drawn)
      fail("--drawing: graph: {} has {} nodes; expected at most {} (--format dot has no limit)",
           report::label_of(subject.name, 60), nodes, report::most_drawn);
    return report::graph_svg(report::dot_of(subject, plan));
  }
  const auto plot = command.drawing == Drawing::timeline ? report::timeline_plot
                    : command.drawing == Drawing::memory ? report::memory_plot
                                                         : report::roofline_plot;
  return report::plot_svg(plot(subject, plan), {});
}

std::string exported(const ExportCommand& command, const report::Subject& subject,
                     const report::Schedule& plan) {
  switch (command.format) {
    case Format::chrome_trace:
      return report::chrome_trace(subject, plan);
    case Format::dot:
      return report::dot_of(subject, plan);
    case Format::svg:
      return svg_of(command, subject, plan);
    case Format::csv:
      return report::schedule_csv(plan);
    case Format::json:
      break;
  }
  nlohmann::ordered_json json = report::subject_json(subject);
  json["plan"] = report::schedule_json(plan);
  return dump(json);
}

int export_plan(const ExportCommand& command, const CLI::App& app) {
  if (app.count("--drawing") > 0 && command.format != Format::svg)
    fail("--drawing: does not exist in {}; expected --format svg with it",
         format_names[static_cast<std::size_t>(command.format)]);
  refuse_overwriting(command.out, {command.file});
  const std::vector<report::PageGraph> graphs =
      read_plan_views({.files = {command.file}, .grid = command.grid});
  const report::Schedule& plan = graphs.front().plans.front();
  const std::string text = exported(command, graphs.front().subject, plan);
  if (command.out == "-")
    write_stdout(text);
  else
    write_file_atomically(command.out, text);
  if (plan.legal()) return exit_ok;
  print_note(fmt::format("{}: illegal, {}: {}", plan.label, plan.fault->code, plan.fault->message));
  return exit_negative;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  CLI::App& command =
      *app.add_subcommand("export", "Write a plan for other tools: Perfetto, graphviz, tables");
  command.footer(footer);
  auto options = std::make_shared<ExportCommand>();
  add_argument(command, "PLAN", "a plan file, as 'fuselage search --out' writes it; '-' for stdin",
               options->file)
      ->required();
  add_choice(command, {"--format", "FORMAT", "chrome-trace, dot, svg, csv or json"}, format_names,
             options->format)
      ->required();
  add_choice(command, {"--drawing", "WHAT", "of svg: graph (default), timeline, memory or roofline"},
             drawing_names, options->drawing);
  add_text(command, {"--out", "FILE", "the file; '-', the default, for stdout"}, options->out);
  add_grid_plan_options(command, options->grid);
  command.callback([options, &command, &exit_code] { exit_code = export_plan(*options, command); });
}

}  // namespace fuselage::cli

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "cli.h"
#include "families.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/report/gnuplot.h"
#include "fuselage/report/plot_kinds.h"
#include "options.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr const char* footer =
    R"(Kinds, and the files that they draw:
  convergence  gap against steps: logs of 'search --log', a curve a file, the median over its graphs in a band
               of quartiles; or a CSV with the columns engine, steps, gap_percent, ms, a point an engine
  headroom     what policies get and what can be got, by task: 'headroom --json'
  pareto       latency against bytes moved: 'search --pareto traffic --json'
  ranking      metrics of rankers with their intervals: 'rank-eval --json', or experiments/ranking's CSV
  budget       gaps after so many measurements: experiments/budget's CSV
  lines        columns of any CSV: --x, --y, and --by for a curve each

A curve is named by its file, without folder and ending, where the file doesn't name it. The picture is an SVG
of gnuplot's (Debian: gnuplot-nox); the same files give the same bytes. Empty cells are left out, any other
that is no number is refused. On a logarithmic axis of convergence what is too small is drawn at the bottom,
where the tick says so.

Exit code: 0, or 2 for bad input and if gnuplot is missing.

Examples:
  fuselage headroom all --json > headroom.json && fuselage plot headroom headroom.json --out headroom.svg
  fuselage search graphs.jsonl --engine beam --log beam.jsonl
  fuselage search graphs.jsonl --engine mcts --steps 100000 --log mcts.jsonl
  fuselage plot convergence beam.jsonl mcts.jsonl --out convergence.svg
  fuselage search all --pareto traffic --json | fuselage plot pareto - --out fronts.svg
  fuselage plot ranking ranking.csv --metric pairwise --metric regret --where 'ranker!=random' --out r.svg
  fuselage plot lines scaling.csv --x nodes --y ms --by rules --log-x --log-y --out scaling.svg
  fuselage plot budget budget.csv --data)";

enum class Kind : std::uint8_t { convergence, headroom, pareto, ranking, budget, lines };
constexpr std::array<std::string_view, 6> kind_names = {"convergence", "headroom", "pareto",
                                                        "ranking",     "budget",   "lines"};
constexpr std::string_view name(Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

// What an axis is measured by, of convergence; a column, of lines.
enum class Gap : std::uint8_t { bound, best };
constexpr std::array<std::string_view, 2> gap_names = {"bound", "best"};

struct PlotCommand {
  Kind kind = Kind::lines;
  std::vector<std::string> files;
  std::string out;
  bool data = false;
  std::optional<std::string> title;
  std::optional<std::string> x_label;
  std::optional<std::string> y_label;
  std::optional<std::int64_t> width = 800;
  std::optional<std::int64_t> height;
  std::string x;
  std::string rules;
  Gap gap = Gap::bound;
  std::vector<std::string> metrics;
  std::vector<report::Condition> where = {};
  report::LinesOptions lines = {};
};

// Which kinds an option is about; the others refuse it.
struct OptionOfKinds {
  std::string_view flag;
  std::vector<Kind> kinds;
};

const std::vector<OptionOfKinds>& options_of_kinds() {
  static const std::vector<OptionOfKinds> options = {
      {"--x", {Kind::convergence, Kind::lines}},
      {"--gap", {Kind::convergence}},
      {"--rules", {Kind::headroom}},
      {"--metric", {Kind::ranking}},
      {"--where", {Kind::convergence, Kind::ranking, Kind::budget, Kind::lines}},
      {"--y", {Kind::lines}},
      {"--by", {Kind::lines}},
      {"--panel", {Kind::lines}},
      {"--low", {Kind::lines}},
      {"--high", {Kind::lines}},
      {"--log-x", {Kind::lines}},
      {"--log-y", {Kind::lines}},
  };
  return options;
}

Kind read_kind(const std::string& text) {
  const auto found = std::find(kind_names.begin(), kind_names.end(), text);
  if (found == kind_names.end())
    fail("KIND: {} is no kind of plot; expected one of {}", quote(text), join_names(kind_names));
  return static_cast<Kind>(found - kind_names.begin());
}

void refuse_options_of_others(const CLI::App& app, Kind kind) {
  for (const OptionOfKinds& option : options_of_kinds()) {
    if (std::find(option.kinds.begin(), option.kinds.end(), kind) != option.kinds.end()) continue;
    std::string kinds;
    for (const Kind other : option.kinds)
      kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", name(other));
    refuse_options(app, {option.flag},
                   fmt::format("is about {}; expected no such option with {}", kinds, name(kind)));
  }
}

// "column=value" and "column!=value"
report::Condition read_condition(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || text.front() == '!')
    fail("--where: {} is no condition; expected COLUMN=VALUE or COLUMN!=VALUE", quote(text));
  const bool excludes = text[equals - 1] == '!';
  return {.column = text.substr(0, equals - (excludes ? 1 : 0)),
          .value = text.substr(equals + 1),
          .excludes = excludes};
}

void refuse_twice(const std::vector<std::string>& files) {
  std::set<std::string> seen;
  for (const std::string& file : files)
    if (!seen.insert(source_name(file)).second)
      fail("{} is given twice; expected each file once", quote(source_name(file)));
}

// Named by its file, and by its path if another has or is that name.
std::vector<report::PlotInput> read_inputs(const std::vector<std::string>& files) {
  refuse_twice(files);
  std::map<std::string, int> times;
  const auto stem = [](const std::string& file) {
    return file == "-" ? source_name(file) : std::filesystem::path(file).stem().string();
  };
  for (const std::string& file : files) {
    ++times[stem(file)];
    if (source_name(file) != stem(file)) ++times[source_name(file)];
  }
  std::vector<report::PlotInput> inputs;
  for (const std::string& file : files)
    inputs.push_back({.source = source_name(file),
                      .name = times[stem(file)] > 1 ? source_name(file) : stem(file),
                      .text = read_file(file)});
  return inputs;
}

bool by_seconds(const std::string& x) {
  if (x != "" && x != "steps" && x != "seconds")
    fail("--x: {} is unknown; expected one of steps, seconds", quote(x));
  return x == "seconds";
}

report::Plot read_plot(const PlotCommand& command, Kind kind) {
  const std::vector<report::PlotInput> files = read_inputs(command.files);
  const std::vector<report::Condition>& where = command.where;
  switch (kind) {
    case Kind::convergence:
      return report::convergence_plot(
          files,
          {.by_seconds = by_seconds(command.x), .above_best = command.gap == Gap::best, .where = where});
    case Kind::headroom: {
      report::HeadroomOptions options;
      if (!command.rules.empty()) options.rules = command.rules;
      return report::headroom_plot(files, options);
    }
    case Kind::pareto:
      return report::pareto_plot(files);
    case Kind::ranking: {
      report::RankingOptions options{.where = where};
      if (!command.metrics.empty()) options.metrics = command.metrics;
      return report::ranking_plot(files, options);
    }
    case Kind::budget:
      return report::budget_plot(files, where);
    case Kind::lines:
      break;
  }
  report::LinesOptions options = command.lines;
  options.x = command.x;
  options.where = where;
  return report::lines_plot(files, options);
}

void plot(const PlotCommand& command, const CLI::App& app) {
  const Kind kind = command.kind;
  refuse_options_of_others(app, kind);
  if (command.data == !command.out.empty())
    fail("what becomes of the plot is not said; expected --out FILE, or --data for its figures");
  report::Plot drawn = read_plot(command, kind);
  if (command.title) drawn.title = *command.title;
  if (command.x_label) drawn.x.label = *command.x_label;
  if (command.y_label) drawn.y.label = *command.y_label;
  report::check(drawn);
  if (command.data) {
    write_stdout(report::plot_data(drawn));
    return;
  }
  report::PlotSize size{.width = static_cast<int>(*command.width)};
  if (command.height) size.height = static_cast<int>(*command.height);
  const std::string svg = report::plot_svg(drawn, size);
  if (command.out == "-")
    write_stdout(svg);
  else
    write_file_atomically(command.out, svg);
}

void add_lines_options(CLI::App& app, report::LinesOptions& lines) {
  add_texts(app, {"--y", "COLUMN", "lines: the column upwards; given again, a curve for each"}, lines.y);
  add_texts(app, {"--by", "COLUMN", "lines: a curve for each value of this column; may be given again"},
            lines.by);
  add_text(app, {"--panel", "COLUMN", "lines: a drawing for each value of this column"}, lines.panel);
  add_text(app, {"--low", "COLUMN", "lines: the lower end of an interval around --y, a band"}, lines.low);
  add_text(app, {"--high", "COLUMN", "lines: its upper end"}, lines.high);
  app.add_flag("--log-x", lines.log_x, "lines: the axis across is logarithmic");
  app.add_flag("--log-y", lines.log_y, "lines: and the one upwards");
}

void add_options(CLI::App& app, PlotCommand& command) {
  add_form_argument(app, "KIND", "convergence, headroom, pareto, ranking, budget or lines",
                    [&command](const std::string& text) { command.kind = read_kind(text); })
      ->required();
  add_arguments(app, "FILE", "tables, as below; '-' for stdin", command.files)->required();
  add_text(app, {"--out", "FILE", "where the SVG goes; '-' for stdout"}, command.out);
  app.add_flag("--data", command.data, "print the figures that would be drawn, as CSV, and draw nothing");
  add_any_text(app, {"--title", "TEXT", "instead of the kind's; '' for none"}, command.title);
  add_any_text(app, {"--x-label", "TEXT", "what the axis across says"}, command.x_label);
  add_any_text(app, {"--y-label", "TEXT", "and the one of the values"}, command.y_label);
  add_integer(app, {"--width", "N", "pixels (800)"}, {300, 4000}, command.width);
  add_integer(app, {"--height", "N", "pixels; default: by what there is to show"}, {150, 8000},
              command.height);
  add_text(app, {"--x", "WHAT", "convergence: steps (default) or seconds; lines: the column across"},
           command.x);
  add_choice(
      app,
      {"--gap", "TO",
       "convergence: bound (default), (plan - bound) / plan, or best of all files, (plan - best) / best"},
      gap_names, command.gap);
  add_text(app, {"--rules", "RULES", "headroom: one rule set of the file; default: the first"},
           command.rules);
  add_texts(app,
            {"--metric", "METRIC",
             "ranking: pairwise (default), tau, top_1, top_5, regret or ndcg_5; given again, a drawing each"},
            command.metrics);
  add_forms(app,
            {"--where", "COLUMN=VALUE",
             "of a CSV: only rows with COLUMN=VALUE, or without: COLUMN!=VALUE; may be given again"},
            [&command](const std::string& text) { command.where.push_back(read_condition(text)); });
  add_lines_options(app, command.lines);
}

}  // namespace

void add_plot(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("plot", "Draw what experiments and commands have measured, as SVG");
  command.footer(footer);
  auto options = std::make_shared<PlotCommand>();
  add_options(command, *options);
  command.callback([options, &command, &exit_code] {
    plot(*options, command);
    exit_code = exit_ok;
  });
}

}  // namespace fuselage::cli

#include "leaderboard_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "habits_report.h"
#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {

const char* const board_legend =
    "\nScores: improvement over greedy / 20 %, within -1 and 1; of finished episodes, mean±deviation over "
    "the\n"
    "episodes of a task, over the graphs of 'graphs'. mean: over the tasks (over the graphs if there are "
    "none).\n"
    "gap: latency above the optimum; return: sum of an episode's rewards; both means over tasks and graphs.\n"
    "here: computed here, on the same tasks and graphs as the transcripts'.\n"
    "published: by the environment's authors, under seed; measured elsewhere and not here.\n"
    "unseen: scores published or measured elsewhere under seed, on graphs that are not those of this "
    "board.\n";

namespace {

using nlohmann::ordered_json;
using Figure = BoardFigures::Figure;

// `spread`: some cell of the column has a deviation, and the others make room for one.
std::string cell(const Figure& figure, bool spread) {
  if (!spread) return decimal(figure.mean);
  const std::string deviation = figure.deviation ? fmt::format("±{:.3f}", *figure.deviation) : "      ";
  return decimal(figure.mean) + deviation;
}

std::string source_words(BoardSource source) {
  switch (source) {
    case BoardSource::transcript:
      return "transcript";
    case BoardSource::computed:
      return "here";
    case BoardSource::published:
      break;
  }
  return "published, seed";
}

struct Line {
  const BoardRow* row;
  BoardFigures figures;
};

std::vector<Line> lines_of(const Board& board) {
  std::vector<Line> lines;
  for (const BoardRow* row : board.ranked()) lines.push_back({.row = row, .figures = board.figures(*row)});
  return lines;
}

// The scores of one column, all rows.
std::vector<std::string> column(const std::vector<Line>& lines, const Figure& (*of)(const Line&, std::size_t),
                                std::size_t index) {
  const bool spread = std::any_of(lines.begin(), lines.end(),
                                  [&](const Line& line) { return of(line, index).deviation.has_value(); });
  std::vector<std::string> cells;
  for (const Line& line : lines) cells.push_back(cell(of(line, index), spread));
  return cells;
}

ordered_json figure_json(const Figure& figure) {
  return {{"mean", number_or_null(figure.mean)},
          {"deviation", number_or_null(figure.deviation)},
          {"count", figure.count}};
}

ordered_json row_json(const Board& board, const BoardRow& row) {
  const BoardFigures figures = board.figures(row);
  const std::vector<std::string> tasks = board.tasks();
  ordered_json scores = ordered_json::object();
  for (std::size_t i = 0; i < tasks.size(); ++i) scores[tasks[i]] = figure_json(figures.tasks[i]);
  const bool published = row.source == BoardSource::published;
  return {{"policy", row.policy},
          {"source", published                             ? "published"
                     : row.source == BoardSource::computed ? "computed"
                                                           : "transcript"},
          {"rules", walk::name(published ? walk::Rules::seed : board.rules())},
          {"mean", number_or_null(figures.mean)},
          {"tasks", std::move(scores)},
          {"graphs", figure_json(figures.graphs)},
          {"published_unseen", number_or_null(row.published_unseen)},
          {"gap", number_or_null(figures.gap)},
          {"return", number_or_null(figures.episode_return)},
          {"episodes", row.episodes},
          {"unfinished", row.unfinished},
          {"unread", row.unread},
          {"habits", row.habits ? habits_json(*row.habits) : ordered_json()}};
}

}  // namespace

std::string board_table(const Board& board) {
  const std::vector<Line> lines = lines_of(board);
  const std::vector<std::string> tasks = board.tasks();
  const bool others = board.other_graphs() > 0;
  std::vector<Column> columns = {{"place"}, {"policy", Align::left}, {"source", Align::left}, {"mean"}};
  std::vector<std::vector<std::string>> scores;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    columns.push_back({tasks[i]});
    scores.push_back(column(
        lines, [](const Line& line, std::size_t task) -> const Figure& { return line.figures.tasks[task]; },
        i));
  }
  if (others) {
    columns.push_back({fmt::format("{} graphs", grouped(std::uint64_t{board.other_graphs()}))});
    scores.push_back(column(
        lines, [](const Line& line, std::size_t) -> const Figure& { return line.figures.graphs; }, 0));
  }
  for (const char* name : {"unseen", "gap %", "return", "episodes", "unfinished", "unread"})
    columns.push_back({name});
  Table table(columns);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [row, figures] = lines[i];
    std::vector<std::string> cells = {figures.mean ? std::to_string(i + 1) : "-", row->policy,
                                      source_words(row->source), decimal(figures.mean)};
    for (const auto& of_column : scores) cells.push_back(of_column[i]);
    const bool partial = others && figures.graphs.count > 0 && figures.graphs.count < board.other_graphs();
    if (partial)
      cells.back() = fmt::format("{} of {}: {}", figures.graphs.count, board.other_graphs(), cells.back());
    cells.push_back(decimal(row->published_unseen));
    cells.push_back(figures.gap ? percent(*figures.gap) : "-");
    cells.push_back(decimal(figures.episode_return));
    for (std::size_t count : {row->episodes, row->unfinished, row->unread})
      cells.push_back(row->episodes > 0 ? grouped(static_cast<std::uint64_t>(count)) : "-");
    table.add(std::move(cells));
  }
  std::string text = fmt::format("Under the rules {}:\n\n{}", walk::name(board.rules()), table.text());
  const auto unproven = std::count_if(board.graphs().begin(), board.graphs().end(),
                                      [](const BoardGraph& graph) { return !graph.proven; });
  if (unproven > 0)
    text += fmt::format("The optimum of {} of {} graphs isn't proven within --steps; gaps may be larger.\n",
                        unproven, board.graphs().size());
  return text;
}

ordered_json board_json(const Board& board) {
  ordered_json graphs = ordered_json::array();
  for (const BoardGraph& graph : board.graphs())
    graphs.push_back({{"name", graph.name},
                      {"task", text_or_null(graph.task)},
                      {"ops", graph.ops},
                      {"greedy", graph.greedy},
                      {"optimum", number_or_null(graph.optimum)},
                      {"proven", graph.proven}});
  ordered_json rows = ordered_json::array();
  for (const BoardRow* row : board.ranked()) rows.push_back(row_json(board, *row));
  return {{"rules", walk::name(board.rules())}, {"graphs", std::move(graphs)}, {"rows", std::move(rows)}};
}

}  // namespace fuselage::cli

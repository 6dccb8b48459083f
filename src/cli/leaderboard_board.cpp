#include "leaderboard_board.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "fuselage/oracle/headroom.h"
#include "fuselage/walk/tasks.h"
#include "reference_policies.h"

namespace fuselage::cli {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

BoardFigures::Figure figure(const Spread& spread) {
  return {.mean = spread.mean(), .deviation = spread.deviation(), .count = spread.count()};
}

// Mean of the figures of all tasks; none if one is missing.
std::optional<double> mean_of(const std::vector<BoardFigures::Figure>& tasks) {
  Spread all;
  for (const BoardFigures::Figure& task : tasks) {
    if (!task.mean) return std::nullopt;
    all.add(*task.mean);
  }
  return all.mean();
}

}  // namespace

void Spread::add(double value) {
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

std::optional<double> Spread::mean() const {
  return count_ > 0 ? std::optional(mean_) : std::nullopt;
}

std::optional<double> Spread::deviation() const {
  if (count_ < 2) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

BoardRow& Board::row(const std::string& policy, BoardSource source) {
  BoardRow& row = rows_[{source, policy}];
  row.policy = policy;
  row.source = source;
  return row;
}

std::size_t Board::add_graph(const Workload& workload, const walk::EpisodeContext& context,
                             const Budget& budget) {
  const std::size_t index = graphs_.size();
  const auto published = oracle::published_for(workload);
  const References references = reference_policies(workload, rules_, budget);
  BoardGraph& graph = graphs_.emplace_back();
  graph = {.name = workload.name,
           .task = published ? std::string(published->task) : "",
           .ops = workload.graph.size(),
           .greedy = context.greedy_latency()};
  if (references.optimum.found) graph.optimum = references.optimum.latency;
  graph.proven = references.optimum.proof == search::Proof::optimal;
  for (const ReferencePolicy& policy : references.policies)
    add_episode(index, context, policy.name, BoardSource::computed, policy.answers);
  // The figure that scores are measured against, which is no episode.
  BoardEpisodes& greedy = row("greedy, the baseline", BoardSource::computed).graphs[index];
  greedy.score.add(0);
  if (graph.optimum && *graph.optimum > 0) greedy.gap.add(graph.greedy / *graph.optimum - 1);
  return index;
}

void Board::add_episode(std::size_t graph, const walk::EpisodeContext& context, const std::string& policy,
                        BoardSource source, const std::vector<std::string>& answers) {
  const oracle::EpisodeOutcome outcome = oracle::outcome_of(context, rules_, answers);
  BoardRow& of = row(policy, source);
  ++of.episodes;
  of.unread += static_cast<std::size_t>(outcome.played.unread);
  if (!of.habits) of.habits.emplace();
  *of.habits += oracle::habits_of(context, rules_, answers);
  if (!outcome.complete) {
    ++of.unfinished;
    return;
  }
  BoardEpisodes& episodes = of.graphs[graph];
  episodes.score.add(outcome.score);
  episodes.episode_return.add(outcome.played.episode_return);
  const auto optimum = graphs_[graph].optimum;
  if (optimum && *optimum > 0) episodes.gap.add(outcome.latency / *optimum - 1);
}

void Board::add_published() {
  const oracle::PublishedUnseen unseen = oracle::published_unseen();
  BoardRow& small = row("3B language model", BoardSource::published);
  BoardRow& large = row("8B language model", BoardSource::published);
  for (const oracle::Published& task : oracle::published()) {
    small.published[std::string(task.task)] = task.score_3b;
    large.published[std::string(task.task)] = task.score_8b;
  }
  small.published_unseen = unseen.score_3b;
  large.published_unseen = unseen.score_8b;
  row("constant 128, fusing", BoardSource::computed).published_unseen = unseen.fusing_128;
  row("constant 256, fusing", BoardSource::computed).published_unseen = unseen.fusing_256;
}

std::vector<std::string> Board::tasks() const {
  std::set<std::string> there;
  for (const BoardGraph& graph : graphs_) there.insert(graph.task);
  std::vector<std::string> result;
  for (const walk::TaskSpec& task : walk::tasks())
    if (there.count(std::string(task.name))) result.emplace_back(task.name);
  return result;
}

std::size_t Board::other_graphs() const {
  return static_cast<std::size_t>(std::count_if(graphs_.begin(), graphs_.end(),
                                                [](const BoardGraph& graph) { return graph.task.empty(); }));
}

bool Board::proven() const {
  return std::all_of(graphs_.begin(), graphs_.end(), [](const BoardGraph& graph) { return graph.proven; });
}

BoardFigures Board::figures(const BoardRow& row) const {
  BoardFigures figures;
  const std::vector<std::string> names = tasks();
  figures.tasks.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto published = row.published.find(names[i]);
    if (published != row.published.end()) figures.tasks[i].mean = published->second;
  }
  Spread graphs, gap, episode_return;
  for (const auto& [index, episodes] : row.graphs) {
    const std::string& task = graphs_[index].task;
    const auto column = std::find(names.begin(), names.end(), task);
    if (column != names.end())
      figures.tasks[static_cast<std::size_t>(column - names.begin())] = figure(episodes.score);
    else
      graphs.add(*episodes.score.mean());
    if (const auto mean = episodes.gap.mean()) gap.add(*mean);
    if (const auto mean = episodes.episode_return.mean()) episode_return.add(*mean);
  }
  figures.graphs = figure(graphs);
  if (!names.empty())
    figures.mean = mean_of(figures.tasks);
  else if (graphs.count() == other_graphs())
    figures.mean = graphs.mean();
  figures.gap = gap.mean();
  figures.episode_return = episode_return.mean();
  return figures;
}

std::vector<const BoardRow*> Board::ranked() const {
  struct Place {
    std::tuple<double, std::size_t, double, double> figures;  // the greater, the better
    const BoardRow* row;
  };
  std::vector<Place> places;
  for (const auto& [key, row] : rows_) {
    const BoardFigures of = figures(row);
    Spread scores;
    for (const BoardFigures::Figure& task : of.tasks)
      if (task.mean) scores.add(*task.mean);
    if (of.graphs.mean) scores.add(*of.graphs.mean);
    places.push_back({.figures = {of.mean.value_or(none), scores.count() > 0 ? scores.count() : 0,
                                  scores.mean().value_or(none), -of.gap.value_or(-none)},
                      .row = &row});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.figures > b.figures; });
  std::vector<const BoardRow*> result;
  for (const Place& place : places) result.push_back(place.row);
  return result;
}

}  // namespace fuselage::cli

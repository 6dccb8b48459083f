// The figures of a leaderboard: policies, as transcripts show them, beside references that are computed here
// on exactly the same graphs, and published scores of language models. A board is of one rule set, since a
// score under one says nothing of another.
//
// Only episodes that reach the end have a score: a latency that is low because half the graph never ran is no
// achievement. The others are counted.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/oracle/habits.h"
#include "fuselage/oracle/play_answers.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/rules.h"

namespace fuselage::cli {

// Mean and spread of numbers that come one by one (Welford's recurrence).
class Spread {
 public:
  void add(double value);
  std::size_t count() const { return count_; }
  std::optional<double> mean() const;       // none of nothing
  std::optional<double> deviation() const;  // of a sample; none of fewer than two
 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances from the mean
};

struct BoardGraph {
  std::string name;
  std::string task;  // the fixed task that it is; empty: none
  int ops = 0;
  double greedy = 0;                   // cycles
  std::optional<double> optimum = {};  // cycles; none if the budget ended without a plan
  bool proven = false;
};

// A policy on one graph.
struct BoardEpisodes {
  Spread score;
  Spread gap;  // latency / optimum - 1
  Spread episode_return;
};

enum class BoardSource { transcript, computed, published };

struct BoardRow {
  std::string policy;
  BoardSource source = BoardSource::transcript;
  std::map<std::size_t, BoardEpisodes> graphs = {};  // by index into the board's
  std::map<std::string, double> published = {};      // scores by task, measured elsewhere, under seed
  std::optional<double> published_unseen = {};       // the same, on graphs that are not the board's
  std::optional<oracle::Habits> habits = {};         // none: there was no episode
  std::size_t episodes = 0;
  std::size_t unfinished = 0;
  std::size_t unread = 0;  // answers
};

// What a row comes to.
struct BoardFigures {
  struct Figure {
    std::optional<double> mean = {};
    std::optional<double> deviation = {};  // over episodes of a task, over graphs of the others
    std::size_t count = 0;                 // of these
  };
  std::vector<Figure> tasks = {};  // as Board::tasks() lists them
  Figure graphs = {};              // over the other graphs that it played, of the mean over their episodes
  // Over the tasks, or if there are none over the other graphs; none for a row that hasn't all of them.
  std::optional<double> mean = {};
  std::optional<double> gap = {};             // mean over graphs of the mean over episodes
  std::optional<double> episode_return = {};  // the same
};

class Board {
 public:
  explicit Board(walk::Rules rules) : rules_(rules) {}

  // The graph, which is new to the board, with all references.
  std::size_t add_graph(const Workload& workload, const walk::EpisodeContext& context, const Budget& budget);
  void add_episode(std::size_t graph, const walk::EpisodeContext& context, const std::string& policy,
                   BoardSource source, const std::vector<std::string>& answers);
  // The scores that others published. Call it when all graphs are there.
  void add_published();

  walk::Rules rules() const { return rules_; }
  const std::vector<BoardGraph>& graphs() const { return graphs_; }
  std::vector<std::string> tasks() const;  // fixed tasks that the graphs are, in their order
  std::size_t other_graphs() const;
  bool proven() const;

  BoardFigures figures(const BoardRow& row) const;
  // By mean score, best first; rows without one behind, by how much of the board they have. Equal ones by
  // gap, then by name.
  std::vector<const BoardRow*> ranked() const;

 private:
  BoardRow& row(const std::string& policy, BoardSource source);

  walk::Rules rules_;
  std::vector<BoardGraph> graphs_;
  std::map<std::pair<BoardSource, std::string>, BoardRow> rows_;
};

}  // namespace fuselage::cli

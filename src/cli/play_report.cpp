#include "play_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuselage/oracle/overflow.h"
#include "report_cells.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string begin_text(const GameTitle& title, const Standing& standing) {
  return fmt::format("{}: {} ops; rules {}, at most {} steps\n\n", title.name,
                     grouped(std::int64_t{standing.ops}), title.rules,
                     grouped(std::int64_t{standing.max_steps}));
}

// Ends with one line feed.
std::string observation_text(const Game& game) {
  std::string text = game.observation();
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string step_text(const PlayedStep& step, int steps) {
  const std::string number = step.counted ? fmt::format("step {}", steps) : "no step";
  return fmt::format("\n{}: reward {:.4f}; {}\n\n", number, step.reward, step.text);
}

std::string end_text(const Game& game, const GameTitle& title, const Standing& standing) {
  const char* word = standing.done ? standing.complete ? "finished" : "out of steps" : "not finished";
  std::string text = fmt::format("{}: {} of {} ops in {} of {} steps; latency {} (naive {}", word,
                                 standing.ops_run, standing.ops, standing.steps, standing.max_steps,
                                 cycles(standing.latency), cycles(standing.naive_latency));
  if (const auto greedy = game.greedy_latency()) text += fmt::format(", greedy {}", cycles(*greedy));
  if (title.best_known) text += fmt::format(", best known {}", cycles(*title.best_known));
  text += ")";
  if (standing.done) text += "; " + game.score_text();
  return text + fmt::format("; return {:.4f}\n", standing.return_sum) +
         oracle::overflow_line(standing.overflows);
}

std::string begin_json(const Game& game, const GameTitle& title) {
  const Standing standing = game.standing();
  return line_of({{"step", 0},
                  {"action", nullptr},
                  {"observation", game.observation()},
                  {"reward", nullptr},
                  {"done", false},
                  {"info",
                   {{"name", title.name},
                    {"family", title.family},
                    {"rules", title.rules},
                    {"ops", standing.ops},
                    {"max_steps", standing.max_steps},
                    {"naive_latency", standing.naive_latency}}}});
}

std::string step_json(const Game& game, const PlayedStep& step, const std::string& action) {
  ordered_json json = {
      {"step", game.standing().steps}, {"action", action},  {"observation", game.observation()},
      {"reward", step.reward},         {"done", step.done}, {"info", step.info}};
  json["info"]["counted"] = step.counted;
  return line_of(json);
}

std::string end_json(const Game& game, const GameTitle& title, const Standing& standing) {
  ordered_json json = {{"action", nullptr},
                       {"name", title.name},
                       {"family", title.family},
                       {"rules", title.rules},
                       {"finished", standing.done},
                       {"complete", standing.complete},
                       {"steps", standing.steps},
                       {"max_steps", standing.max_steps},
                       {"ops_run", standing.ops_run},
                       {"ops", standing.ops},
                       {"latency", standing.latency},
                       {"overflows", standing.overflows},
                       {"naive_latency", standing.naive_latency},
                       {"greedy_latency", number_or_null(game.greedy_latency())},
                       {"best_known", number_or_null(title.best_known)}};
  json.update(game.scores());
  json["return"] = standing.return_sum;
  return line_of(json);
}

}  // namespace fuselage::cli

#include "audit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "report_cells.h"
#include "table.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
namespace audit = oracle::audit;

// "1, 3, 3, 3" as "1, 3 x3".
std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size();) {
    std::size_t count = 1;
    while (i + count < values.size() && values[i + count] == values[i]) ++count;
    text += fmt::format("{}{}{}", i > 0 ? "," : "", values[i], count > 2 ? fmt::format(" x{}", count) : "");
    i += count > 2 ? count : 1;
  }
  return text;
}

// The fields that say something: "retain [3 x100]", "tile 64".
std::string move_text(const audit::Game& game, const audit::Move& move, const audit::Move& plain) {
  if (move.unreadable) return "an answer that can't be read";
  std::string text;
  for (std::size_t f = 0; f < move.fields.size(); ++f) {
    if (move.fields[f] == plain.fields[f]) continue;
    const audit::Field& field = game.form()[f];
    const std::string values = list_text(move.fields[f]);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.name,
                        field.kind == audit::FieldKind::choice ? values : "[" + values + "]");
  }
  return text;
}

std::string file_name(const audit::Report& report, const audit::Finding& finding) {
  std::string name = fmt::format("{}-{}-{}", report.name, report.rules, finding.law);
  if (!finding.judge.empty() || finding.law == "wording") {
    name += finding.judge.empty() ? "" : "-" + finding.judge;
    if (finding.code != finding.law) name += "-" + finding.code;
  }
  const auto odd = [](char c) { return c == ' ' || c == '/' || c == '+' || c == '\\'; };
  std::replace_if(name.begin(), name.end(), odd, '_');
  return name + ".txt";
}

AuditedExample example_of(const audit::Game& game, const audit::Finding& finding) {
  AuditedExample example;
  const audit::Move plain = game.plain();
  const audit::Line& moves = finding.example.moves;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    example.actions.push_back(game.text(moves[i]));
    example.plain += moves[i] == plain ? 1 : 0;
    if (moves[i] == plain) continue;
    example.summary += fmt::format("    {:>3}  {}\n", i, move_text(game, moves[i], plain));
  }
  return example;
}

std::string gain_text(const audit::Finding& finding) {
  return finding.unit == "latency" ? cycles(finding.gain) : fmt::format("{:.4f}", finding.gain);
}

std::string against(const audit::Finding& finding) {
  return finding.judge.empty() ? "-" : finding.judge;
}

// "4 of 8": actions that are not plain, and all.
std::string size_text(const AuditedExample& example) {
  return fmt::format("{} of {}", example.actions.size() - example.plain, example.actions.size());
}

std::string findings_table(const std::vector<AuditedGame>& games) {
  Table table({{"#"},
               {"game", Align::left},
               {"rules", Align::left},
               {"law", Align::left},
               {"against", Align::left},
               {"how", Align::left},
               {"gain"},
               {"of", Align::left},
               {"score"},
               {"return"},
               {"latency"},
               {"actions"}});
  std::size_t number = 0;
  for (const AuditedGame& game : games) {
    for (std::size_t i = 0; i < game.report.findings.size(); ++i) {
      const audit::Finding& finding = game.report.findings[i];
      const audit::Play& play = finding.example;
      table.add({std::to_string(++number), game.report.name, game.report.rules, finding.law, against(finding),
                 finding.code, gain_text(finding), finding.unit, fmt::format("{:.4f}", play.end.score),
                 fmt::format("{:.4f}", play.return_sum), cycles(play.end.latency),
                 size_text(game.examples[i])});
    }
  }
  return number > 0 ? table.text() + "\nactions: those that ask for something, of all.\n"
                    : "Nothing was found.\n";
}

std::string optimum_text(const audit::Report::Judged& judged) {
  if (!judged.best) return "-";
  return cycles(judged.best->latency) + (judged.best->proven ? "" : " *");
}

// What the same graph takes under each rule set, and what the audit found under the game's own.
std::string optima_table(const std::vector<AuditedGame>& games) {
  Table table({{"game", Align::left},
               {"rules", Align::left},
               {"judge", Align::left},
               {"least latency"},
               {"fastest found"},
               {"score"},
               {"return"},
               {"findings"}});
  for (const AuditedGame& game : games) {
    const audit::Report& report = game.report;
    for (std::size_t i = 0; i < report.judges.size(); ++i) {
      const bool first = i == 0;
      const audit::Play& fastest = report.fastest;
      const auto once = [&](std::string text) { return first ? std::move(text) : ""; };
      table.add({once(report.name), once(report.rules), report.judges[i].judge,
                 optimum_text(report.judges[i]),
                 once(fastest.end.complete ? cycles(fastest.end.latency) : "-"),
                 once(fastest.end.complete ? fmt::format("{:.4f}", fastest.end.score) : "-"),
                 once(fastest.end.complete ? fmt::format("{:.4f}", fastest.return_sum) : "-"),
                 once(std::to_string(report.findings.size()))});
    }
  }
  return table.text() + "\n*: not proven. Fastest found: by the audit, under the game's own rules.\n";
}

ordered_json finding_json(const audit::Finding& finding, const AuditedExample& example) {
  const audit::Play& play = finding.example;
  return {{"law", finding.law},
          {"owed", finding.owed},
          {"against", text_or_null(finding.judge)},
          {"how", finding.code},
          {"what", finding.what},
          {"gain", finding.gain},
          {"unit", finding.unit},
          {"reference", finding.reference},
          {"score", play.end.score},
          {"return", play.return_sum},
          {"latency", play.end.latency},
          {"complete", play.end.complete},
          {"max_steps", play.max_steps},
          {"replay", example.command},
          {"file", example.file},
          {"actions", example.actions}};
}

ordered_json game_json(const AuditedGame& game) {
  const audit::Report& report = game.report;
  ordered_json json = {{"name", report.name},   {"family", report.family},          {"rules", report.rules},
                       {"ops", report.ops},     {"judges", ordered_json::array()},  {"fastest", nullptr},
                       {"steps", report.steps}, {"findings", ordered_json::array()}};
  for (const audit::Report::Judged& judged : report.judges) {
    ordered_json judge = {{"name", judged.judge}, {"latency", nullptr}, {"proven", nullptr}};
    if (judged.best) {
      judge["latency"] = judged.best->latency;
      judge["proven"] = judged.best->proven;
    }
    json["judges"].push_back(std::move(judge));
  }
  const audit::Play& fastest = report.fastest;
  if (fastest.end.complete)
    json["fastest"] = {
        {"latency", fastest.end.latency}, {"score", fastest.end.score}, {"return", fastest.return_sum}};
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    json["findings"].push_back(finding_json(report.findings[i], game.examples[i]));
  return json;
}

}  // namespace

AuditedGame audited(const audit::Game& game, audit::Report report, const std::string& target,
                    const std::string& folder) {
  AuditedGame result{.report = std::move(report), .examples = {}};
  for (const audit::Finding& finding : result.report.findings) {
    AuditedExample example = example_of(game, finding);
    example.file = file_name(result.report, finding);
    const bool cut = finding.example.max_steps != result.report.max_steps;
    example.command = fmt::format("fuselage play {} {}{} --rules {}{} --quiet", target,
                                  folder.empty() ? "" : folder + "/", example.file, result.report.rules,
                                  cut ? fmt::format(" --max-steps {}", finding.example.max_steps) : "");
    result.examples.push_back(std::move(example));
  }
  return result;
}

std::string audit_text(const std::vector<AuditedGame>& games) {
  std::string text = findings_table(games) + "\n" + optima_table(games);
  std::size_t number = 0;
  for (const AuditedGame& game : games) {
    for (std::size_t i = 0; i < game.report.findings.size(); ++i) {
      const audit::Finding& finding = game.report.findings[i];
      text += fmt::format("\n{}. {}, {}: {}{}, {}\n    owed: {}.\n    found: {}.\n    replay: {}\n{}",
                          ++number, game.report.name, game.report.rules, finding.law,
                          finding.judge.empty() ? "" : " against " + finding.judge, finding.code,
                          finding.owed, finding.what, game.examples[i].command, game.examples[i].summary);
    }
  }
  return text;
}

ordered_json audit_json(const std::vector<AuditedGame>& games, const audit::Options& options) {
  ordered_json json = {{"seed", options.seed},
                       {"steps", options.steps},
                       {"entries", options.entries},
                       {"games", ordered_json::array()}};
  for (const AuditedGame& game : games) json["games"].push_back(game_json(game));
  return json;
}

}  // namespace fuselage::cli

#include "fuselage/oracle/audit.h"

#include <algorithm>
#include <utility>

#include "audit_laws.h"

namespace fuselage::oracle::audit {

Inquiry::Inquiry(const Game& game, const Options& options) : game_(game), options_(options) {
  report_.name = game.name();
  report_.family = game.family();
  report_.rules = game.rules();
  report_.ops = game.ops();
  report_.max_steps = game.max_steps();
  for (const Judge& judge : game.judges())
    report_.judges.push_back({.judge = judge.name, .best = judge.best});
  starts_.push_back({game.plain()});
  for (Line& line : game.openings()) starts_.push_back(std::move(line));
}

Found Inquiry::climb(const Goal& goal, const Where& where) {
  Allowance allowance{.left = options_.steps / where.share, .cancel = options_.cancel};
  // Plays that a goal makes are of the same search.
  std::uint64_t aside = 0;
  const Goal charged = [&](const Play& play, double enough) {
    const std::uint64_t before = report_.steps;
    const double value = goal(play, enough);
    allowance.charge(report_.steps - before);
    aside += report_.steps - before;
    return value;
  };
  Found found = audit::climb(game_,
                             {.goal = charged,
                              .starts = where.starts.empty() ? starts_ : where.starts,
                              .liberties = where.liberties,
                              .max_steps = where.max_steps > 0 ? where.max_steps : game_.max_steps(),
                              .entries = options_.entries,
                              .seed = options_.seed},
                             allowance);
  report_.steps += allowance.spent - aside;
  return found;
}

Play Inquiry::play(Line line, int max_steps) {
  Play played = audit::play(game_, std::move(line), max_steps > 0 ? max_steps : game_.max_steps());
  report_.steps += played.moves.size();
  return played;
}

const Play& Inquiry::minimise(Finding& finding, const std::function<bool(const Play&)>& passes) {
  Allowance allowance{.left = options_.steps, .cancel = options_.cancel};
  finding.example = audit::minimise(game_, std::move(finding.example), passes, allowance);
  report_.steps += allowance.spent;
  return finding.example;
}

bool Inquiry::has_found(std::string_view law, std::string_view judge, std::string_view code) const {
  return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Finding& finding) {
    return finding.law == law && finding.judge == judge && finding.code == code;
  });
}

void Inquiry::set_fastest(Play play) {
  starts_.push_back(play.moves);
  report_.fastest = std::move(play);
}

// Least latency first, and then the highest return at that.
void find_fastest(Inquiry& inquiry) {
  const Found fast = inquiry.climb(
      [](const Play& play, double) { return play.end.complete ? -play.end.latency : never; }, {});
  if (!fast) return;
  const double latency = fast.play.end.latency;
  Found paid = inquiry.climb(
      [&](const Play& play, double) {
        return play.end.complete && !is_less(latency, play.end.latency) ? play.return_sum : never;
      },
      {.starts = {fast.play.moves}});
  inquiry.set_fastest(std::move(paid.play));
}

Report audit(const Game& game, const Options& options) {
  Inquiry inquiry(game, options);
  find_fastest(inquiry);
  for (const auto law : {law_reachable, law_accepted, law_price, law_order, law_worst, law_bounded,
                         law_early_end, law_wording, law_idle}) {
    if (options.cancel && *options.cancel) break;
    law(inquiry);
  }
  return inquiry.take();
}

}  // namespace fuselage::oracle::audit

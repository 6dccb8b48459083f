// The laws of audit.h, each a search of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "audit_search.h"

namespace fuselage::oracle::audit {

// What the laws share: the game, what is known of it by now, and where findings go.
class Inquiry {
 public:
  Inquiry(const Game& game, const Options& options);

  const Game& game() const { return game_; }
  const Options& options() const { return options_; }
  const Play& fastest() const { return report_.fastest; }
  bool has_fastest() const { return report_.fastest.end.complete; }
  // Plain moves, the game's openings, and the fastest play once it is known.
  const std::vector<Line>& starts() const { return starts_; }

  using Goal = std::function<double(const Play&, double enough)>;
  struct Where {
    Liberties liberties = {};
    int max_steps = 0;              // 0: the game's
    std::uint64_t share = 1;        // of the steps of a search: one over so many
    std::vector<Line> starts = {};  // none: starts()
  };
  Found climb(const Goal& goal, const Where& where);
  Play play(Line line, int max_steps = 0);  // 0: the game's
  // Cuts the example down while `passes` says that it still shows what it is to show.
  const Play& minimise(Finding& finding, const std::function<bool(const Play&)>& passes);
  void add(Finding finding) { report_.findings.push_back(std::move(finding)); }
  bool has_found(std::string_view law, std::string_view judge, std::string_view code) const;
  void set_fastest(Play play);
  Report take() { return std::move(report_); }

 private:
  const Game& game_;
  Options options_;
  std::vector<Line> starts_;
  Report report_;
};

void find_fastest(Inquiry& inquiry);
void law_reachable(Inquiry& inquiry);
void law_accepted(Inquiry& inquiry);
void law_price(Inquiry& inquiry);
void law_order(Inquiry& inquiry);
void law_worst(Inquiry& inquiry);
void law_bounded(Inquiry& inquiry);
void law_idle(Inquiry& inquiry);
void law_early_end(Inquiry& inquiry);
void law_wording(Inquiry& inquiry);

}  // namespace fuselage::oracle::audit

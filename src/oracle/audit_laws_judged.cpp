// What a game gives away by its accounting: laws that hold an episode against what judges say of it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "audit_laws.h"

namespace fuselage::oracle::audit {
namespace {

using Codes = std::set<std::string>;

Codes codes_of(const Verdict& verdict) {
  Codes codes;
  for (const Breach& breach : verdict.breaches) codes.insert(breach.code);
  return codes;
}

std::string joined(const Codes& codes) {
  std::string text;
  for (const std::string& code : codes) text += (text.empty() ? "" : " + ") + code;
  return text.empty() ? "price" : text;
}

// The fastest episodes that break just one of a judge's rules, rule by rule, and if there is none that is
// faster than what the judge admits, the fastest of all with all that it breaks.
class Reachable {
 public:
  Reachable(Inquiry& inquiry, const Judge& judge, const Play& lowest)
      : inquiry_(inquiry), judge_(judge), lowest_(lowest), best_(judge.best->latency) {}

  void run() {
    if (!is_less(lowest_.end.latency, best_)) return;
    const Codes whole = codes_of(judge_.verdict(lowest_.moves));
    seen_ = whole;
    bool alone = false;
    for (Codes done; done != seen_;) {
      Codes open;
      std::set_difference(seen_.begin(), seen_.end(), done.begin(), done.end(),
                          std::inserter(open, open.end()));
      done.insert(*open.begin());
      alone = search(*open.begin()) || alone;
    }
    if (!alone) add(lowest_, whole);
  }

 private:
  bool search(const std::string& code) {
    const auto goal = [&](const Play& play, double enough) {
      if (!play.end.complete || -play.end.latency < enough) return never;
      const Codes codes = codes_of(judge_.verdict(play.moves));
      seen_.insert(codes.begin(), codes.end());
      const bool has = codes.count(code) > 0;
      const double others = static_cast<double>(codes.size()) - (has ? 1 : 0);
      return -play.end.latency - 10 * best_ * others - (has ? 0 : 5 * best_);
    };
    std::vector<Line> starts = inquiry_.starts();
    starts.push_back(lowest_.moves);
    const Found found = inquiry_.climb(
        goal, {.liberties = {.repeats = true, .odd = true}, .share = 2, .starts = std::move(starts)});
    if (!found || !is_less(found.play.end.latency, best_)) return false;
    if (codes_of(judge_.verdict(found.play.moves)) != Codes{code}) return false;
    add(found.play, {code});
    return true;
  }

  void add(const Play& play, const Codes& codes) {
    const double latency = play.end.latency;
    const auto passes = [&](const Play& next) {
      return next.end.complete && !is_less(latency, next.end.latency) &&
             codes_of(judge_.verdict(next.moves)) == codes;
    };
    Finding finding{.law = "reachable",
                    .owed = fmt::format("no schedule takes less than the best that {} admits", judge_.name),
                    .judge = judge_.name,
                    .code = joined(codes),
                    .what = {},
                    .gain = best_ - latency,
                    .unit = "latency",
                    .reference = best_,
                    .example = play};
    const Verdict verdict = judge_.verdict(inquiry_.minimise(finding, passes).moves);
    finding.what = verdict.breaches.empty()
                       ? fmt::format("{} admits it, but prices it at {:.6g}", judge_.name, verdict.latency)
                       : verdict.breaches.front().message;
    if (!judge_.best->proven) finding.what += "; the best admitted isn't proven";
    inquiry_.add(std::move(finding));
  }

  Inquiry& inquiry_;
  const Judge& judge_;
  const Play& lowest_;
  double best_;
  Codes seen_;
};

}  // namespace

void law_reachable(Inquiry& inquiry) {
  const Found lowest =
      inquiry.climb([](const Play& play, double) { return play.end.complete ? -play.end.latency : never; },
                    {.liberties = {.repeats = true, .odd = true}});
  if (!lowest) return;
  for (const Judge& judge : inquiry.game().judges())
    if (judge.best) Reachable(inquiry, judge, lowest.play).run();
}

// What a judge refuses but the game scores, rule by rule, unless it is known already to be faster than what
// the judge admits.
void law_accepted(Inquiry& inquiry) {
  for (const Judge& judge : inquiry.game().judges()) {
    Codes seen;
    const auto search = [&](const std::optional<std::string>& code) {
      const auto goal = [&](const Play& play, double enough) {
        if (!play.end.complete || play.end.score < enough) return never;
        const Codes codes = codes_of(judge.verdict(play.moves));
        seen.insert(codes.begin(), codes.end());
        const bool has = code ? codes.count(*code) > 0 : !codes.empty();
        const double others = static_cast<double>(codes.size()) - (has ? 1 : 0);
        return play.end.score - 10 * others - (has ? 0 : 5);
      };
      return inquiry.climb(goal, {.liberties = {.repeats = true, .odd = true}, .share = 4});
    };
    search(std::nullopt);
    for (const std::string& code : Codes(seen)) {
      if (inquiry.has_found("reachable", judge.name, code)) continue;
      const Found found = search(code);
      if (!found || codes_of(judge.verdict(found.play.moves)) != Codes{code}) continue;
      Finding finding{.law = "accepted",
                      .owed = fmt::format("what {} refuses is not scored as a schedule", judge.name),
                      .judge = judge.name,
                      .code = code,
                      .gain = found.play.end.score,
                      .unit = "score",
                      .reference = 0,
                      .example = found.play};
      const Play& example = inquiry.minimise(finding, [&](const Play& play) {
        return play.end.complete && play.end.score >= found.value - rounding &&
               codes_of(judge.verdict(play.moves)) == Codes{code};
      });
      finding.what = judge.verdict(example.moves).breaches.front().message;
      inquiry.add(std::move(finding));
    }
  }
}

void law_price(Inquiry& inquiry) {
  for (const Judge& judge : inquiry.game().judges()) {
    const auto share_given = [&](const Play& play) {
      if (!play.end.complete) return never;
      const Verdict verdict = judge.verdict(play.moves);
      if (!verdict.breaches.empty()) return never;
      return (verdict.latency - play.end.latency) / verdict.latency;
    };
    const Found found = inquiry.climb([&](const Play& play, double) { return share_given(play); },
                                      {.liberties = {.repeats = true, .odd = true}, .share = 2});
    if (!found || found.value <= rounding) continue;
    Finding finding{.law = "price",
                    .owed = fmt::format("a schedule that {} admits takes what it says", judge.name),
                    .judge = judge.name,
                    .code = "price",
                    .what = {},
                    .gain = 0,
                    .unit = "latency",
                    .reference = 0,
                    .example = found.play};
    const Play& example = inquiry.minimise(
        finding, [&](const Play& play) { return share_given(play) >= found.value * (1 - rounding); });
    finding.reference = judge.verdict(example.moves).latency;
    finding.gain = finding.reference - example.end.latency;
    finding.what = fmt::format("{:.6g} instead of {:.6g}, {:.3g} % less", example.end.latency,
                               finding.reference, 100 * finding.gain / finding.reference);
    inquiry.add(std::move(finding));
  }
}

}  // namespace fuselage::oracle::audit

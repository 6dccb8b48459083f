// What the frame of a game gives away: where an episode ends, and how an action is worded.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "audit_laws.h"

namespace fuselage::oracle::audit {
namespace {

struct Cut {
  int steps = 0;
  Found found = {};
};

// The best score of episodes of so many steps, and of those the least latency.
Cut best_cut(Inquiry& inquiry, int steps, std::uint64_t share) {
  const double scale = rounding / std::max(1.0, inquiry.fastest().end.latency);
  const auto goal = [scale](const Play& play, double) {
    return play.end.done ? play.end.score - scale * play.end.latency : never;
  };
  return {.steps = steps, .found = inquiry.climb(goal, {.max_steps = steps, .share = share})};
}

// Episodes that end before the work can be done, against the fastest that does it.
bool cut_off(Inquiry& inquiry) {
  constexpr int most = 24;
  constexpr double tie = 1e-6;
  const int last = std::min(inquiry.game().max_steps(), inquiry.game().ops()) - 1;
  const int stride = std::max(1, (last + most - 1) / most);
  Cut best;
  double gain = 0;
  for (int steps = last; steps >= 1; steps -= stride) {
    Cut cut = best_cut(inquiry, steps, most);
    const Standing& end = cut.found.play.end;
    if (!cut.found || end.complete || end.score - inquiry.fastest().end.score <= gain + tie) continue;
    gain = end.score - inquiry.fastest().end.score;
    best = std::move(cut);
  }
  if (best.steps == 0) return false;
  const double score = best.found.play.end.score;
  const auto passes = [&](const Play& play) {
    return !play.end.complete && play.end.score >= score - rounding;
  };
  Finding finding{
      .law = "early end",
      .owed = "an episode that is cut off scores no better than a whole one",
      .code = "cut off",
      .what = fmt::format("cut off after {} steps, with {} of {} ops run: score {:.4g}; the fastest "
                          "whole one: {:.4g}. The game itself ends after {} steps",
                          best.steps, best.found.play.end.work, inquiry.game().ops(), score,
                          inquiry.fastest().end.score, inquiry.game().max_steps()),
      .gain = gain,
      .unit = "score",
      .reference = inquiry.fastest().end.score,
      .example = best.found.play};
  inquiry.minimise(finding, passes);
  inquiry.add(std::move(finding));
  return true;
}

// Whole episodes that would have scored more without their last step.
void last_step(Inquiry& inquiry) {
  const auto short_of_last = [&](const Play& play) {
    return inquiry.play(play.moves, static_cast<int>(play.moves.size()) - 1);
  };
  const auto gain_of = [&](const Play& play) {
    if (!play.end.complete || play.moves.size() < 2) return never;
    const Play shorter = short_of_last(play);
    return shorter.end.complete || !shorter.end.done ? never : shorter.end.score - play.end.score;
  };
  const Found found = inquiry.climb([&](const Play& play, double) { return gain_of(play); }, {.share = 2});
  if (!found || found.value <= rounding) return;
  Finding finding{.law = "early end",
                  .owed = "doing the last of the work does not lower the score",
                  .code = "last step",
                  .what = {},
                  .gain = found.value,
                  .unit = "score",
                  .reference = found.play.end.score,
                  .example = found.play};
  const Play& whole =
      inquiry.minimise(finding, [&](const Play& play) { return gain_of(play) >= found.value - rounding; });
  finding.reference = whole.end.score;
  finding.example = short_of_last(whole);
  finding.what = fmt::format("without the last step, with {} of {} ops run: score {:.4g}; with it: {:.4g}",
                             finding.example.end.work, inquiry.game().ops(), finding.example.end.score,
                             finding.reference);
  inquiry.add(std::move(finding));
}

// How an action may be worded that means nothing more; undone, it should be worth no less.
enum class Liberty : std::uint8_t { repeated, reordered, unknown_entry, unknown_value };
constexpr std::array<const char*, 4> liberty_names = {"repeated entry", "order of entries", "unknown entry",
                                                      "unknown value"};

bool is_in(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class Undo {
 public:
  Undo(Inquiry& inquiry, Liberty liberty) : inquiry_(inquiry), liberty_(liberty) {}

  // The best play without the liberty: each move that takes it is worded plainly, or says nothing, or is left
  // out. None: it was not taken, or nothing else does the work.
  std::optional<Play> operator()(const Play& play) {
    best_.reset();
    Line line = play.moves;
    bool taken = false;
    for (std::size_t at = line.size(); at-- > 0;) {
      if (!takes(line[at])) continue;
      taken = true;
      best_.reset();
      for (Line& instead : without(line, at)) offer(std::move(instead));
      if (!best_) return std::nullopt;
      line = best_->moves;
    }
    return taken ? std::move(best_) : std::nullopt;
  }

 private:
  const std::vector<Field>& form() const { return inquiry_.game().form(); }

  void offer(Line line) {
    Play play = inquiry_.play(std::move(line));
    if (play.end.complete && (!best_ || play.end.latency < best_->end.latency)) best_ = std::move(play);
  }

  bool takes(const Move& move) const {
    if (liberty_ != Liberty::unknown_value) return worded(move) != move;
    for (std::size_t f = 0; f < form().size(); ++f)
      if (is_unknown(f, move)) return true;
    return false;
  }
  bool is_unknown(std::size_t f, const Move& move) const {
    return form()[f].kind == FieldKind::choice && is_in(form()[f].odd, move.fields[f].front());
  }

  std::vector<Line> without(const Line& line, std::size_t at) const {
    std::vector<Line> lines(2, line);
    lines[0][at] = inquiry_.game().plain();
    lines[1].erase(lines[1].begin() + static_cast<std::ptrdiff_t>(at));
    const std::size_t first = lines.size();
    lines.push_back(line);
    lines[first][at] = worded(line[at]);
    for (std::size_t f = 0; f < form().size(); ++f) {
      if (liberty_ != Liberty::unknown_value || !is_unknown(f, line[at])) continue;
      std::vector<Line> known;
      for (std::size_t i = first; i < lines.size(); ++i) {
        for (const std::int64_t value : form()[f].values) {
          known.push_back(lines[i]);
          known.back()[at].fields[f] = {value};
        }
      }
      lines.resize(first);
      lines.insert(lines.end(), known.begin(), known.end());
    }
    return lines;
  }

  Move worded(Move move) const {
    for (std::size_t f = 0; f < form().size(); ++f)
      if (form()[f].kind == FieldKind::set) undo_list(form()[f], move.fields[f]);
    return move;
  }

  void undo_list(const Field& field, std::vector<std::int64_t>& values) const {
    if (liberty_ == Liberty::unknown_value) return;
    if (liberty_ == Liberty::reordered) return std::sort(values.begin(), values.end());
    std::vector<std::int64_t> kept;
    for (const std::int64_t value : values) {
      const bool drops = liberty_ == Liberty::repeated ? is_in(kept, value) : is_in(field.odd, value);
      if (!drops) kept.push_back(value);
    }
    values = std::move(kept);
  }

  Inquiry& inquiry_;
  Liberty liberty_;
  std::optional<Play> best_ = {};
};

// The fastest play in which a liberty gains something.
void look_at_wording(Inquiry& inquiry, Liberty liberty) {
  Undo undo(inquiry, liberty);
  const auto gains = [&](const Play& play) {
    if (!play.end.complete) return false;
    const std::optional<Play> undone = undo(play);
    return undone && is_less(play.end.latency, undone->end.latency);
  };
  const double otherwise = 10 * inquiry.fastest().end.latency;
  const Found found = inquiry.climb(
      [&](const Play& play, double enough) {
        if (!play.end.complete || -play.end.latency < enough) return never;
        return -play.end.latency - (gains(play) ? 0 : otherwise);
      },
      {.liberties = {.repeats = true, .odd = true}, .share = 4});
  if (!found || !gains(found.play)) return;
  Finding finding{.law = "wording",
                  .owed = "order and repetition in a set, and unknown values, gain nothing",
                  .code = liberty_names[static_cast<std::size_t>(liberty)],
                  .unit = "latency",
                  .example = found.play};
  const double latency = found.play.end.latency;
  const Play& example = inquiry.minimise(
      finding, [&](const Play& play) { return !is_less(latency, play.end.latency) && gains(play); });
  finding.reference = undo(example)->end.latency;
  finding.gain = finding.reference - example.end.latency;
  finding.what = fmt::format("latency {:.6g}; without it {:.6g}; the fastest without any liberty {:.6g}",
                             example.end.latency, finding.reference, inquiry.fastest().end.latency);
  inquiry.add(std::move(finding));
}

}  // namespace

void law_early_end(Inquiry& inquiry) {
  if (!inquiry.has_fastest()) return;
  if (!cut_off(inquiry)) last_step(inquiry);
}

void law_wording(Inquiry& inquiry) {
  if (!inquiry.has_fastest()) return;
  for (const Liberty liberty :
       {Liberty::repeated, Liberty::reordered, Liberty::unknown_entry, Liberty::unknown_value})
    look_at_wording(inquiry, liberty);
}

}  // namespace fuselage::oracle::audit

// What agents are trained on: laws of the reward, which should be highest for what is best.
#include <fmt/format.h>

#include <utility>

#include "audit_laws.h"

namespace fuselage::oracle::audit {
namespace {

bool is_more(double a, double b) {
  return a > b + rounding * std::max({1.0, std::abs(a), std::abs(b)});
}

void add_return(Inquiry& inquiry, Finding finding, const std::function<bool(const Play&)>& passes) {
  finding.unit = "return";
  const double paid = finding.example.return_sum;
  const Play& example = inquiry.minimise(
      finding, [&](const Play& play) { return !is_more(paid, play.return_sum) && passes(play); });
  finding.gain = example.return_sum - finding.reference;
  inquiry.add(std::move(finding));
}

// The reward of the step that gets no work done and is paid best.
double idle_pay(const Play& play) {
  double most = never;
  for (std::size_t i = 0; i < play.replies.size(); ++i) {
    const bool idle = play.work[i] <= (i > 0 ? play.work[i - 1] : 0);
    if (idle) most = std::max(most, play.replies[i].reward);
  }
  return most;
}

// The line with a move said twice before it comes to be said, short of one of its entries.
void add_halting(const Line& line, const std::vector<Field>& form, std::vector<Line>& out) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (std::size_t f = 0; f < form.size(); ++f) {
      const std::size_t entries = line[at].fields[f].size();
      for (std::size_t i = 0; form[f].kind == FieldKind::set && entries > 1 && i < entries; ++i) {
        Move less = line[at];
        less.fields[f].erase(less.fields[f].begin() + static_cast<std::ptrdiff_t>(i));
        Line halting = line;
        halting.insert(halting.begin() + static_cast<std::ptrdiff_t>(at), 2, less);
        out.push_back(std::move(halting));
      }
    }
  }
}

// Every start with moves that may get no work done: all of them twice, one of them short of an entry twice,
// and an answer that can't be read.
std::vector<Line> with_idle_steps(const Inquiry& inquiry) {
  std::vector<Line> lines;
  for (const Line& start : inquiry.starts()) {
    Line unread = start;
    unread.insert(unread.begin(), {.fields = start.front().fields, .unreadable = true});
    Line twice;
    for (const Move& move : start) twice.insert(twice.end(), 2, move);
    lines.push_back(std::move(unread));
    lines.push_back(std::move(twice));
    add_halting(start, inquiry.game().form(), lines);
  }
  return lines;
}

}  // namespace

void law_order(Inquiry& inquiry) {
  if (!inquiry.has_fastest()) return;
  const Play& fastest = inquiry.fastest();
  const Found found = inquiry.climb([](const Play& play, double) { return play.return_sum; }, {});
  const auto slower = [&](const Play& play) {
    return !play.end.complete || is_less(fastest.end.latency, play.end.latency);
  };
  if (!is_more(found.play.return_sum, fastest.return_sum) || !slower(found.play)) return;
  add_return(inquiry,
             {.law = "order",
              .owed = "the highest return is had by no slower schedule than the fastest",
              .code = found.play.end.complete ? "slower" : "not complete",
              .what = fmt::format("return {:.4f} at latency {:.6g}; the fastest takes {:.6g} and gets {:.4f}",
                                  found.play.return_sum, found.play.end.latency, fastest.end.latency,
                                  fastest.return_sum),
              .reference = fastest.return_sum,
              .example = found.play},
             slower);
}

void law_worst(Inquiry& inquiry) {
  if (!inquiry.has_fastest()) return;
  const Play& fastest = inquiry.fastest();
  const Found worst = inquiry.climb([](const Play& play, double) { return -play.end.score; }, {.share = 2});
  const double score = worst.play.end.score;
  if (!is_more(fastest.end.score, score)) return;
  const auto is_worst = [score](const Play& play) { return !is_more(play.end.score, score); };
  std::vector<Line> starts = inquiry.starts();
  starts.push_back(worst.play.moves);
  const Found found =
      inquiry.climb([&](const Play& play, double) { return is_worst(play) ? play.return_sum : never; },
                    {.liberties = {.repeats = true}, .starts = std::move(starts)});
  if (!is_more(found.play.return_sum, fastest.return_sum)) return;
  add_return(inquiry,
             {.law = "worst",
              .owed = "an episode of the worst score has no higher return than the fastest schedule",
              .code = "worst score",
              .what = fmt::format("return {:.4f} at score {:.4g}, lists of up to {} entries; the fastest has "
                                  "score {:.4g} and gets {:.4f}",
                                  found.play.return_sum, score, inquiry.options().entries, fastest.end.score,
                                  fastest.return_sum),
              .reference = fastest.return_sum,
              .example = found.play},
             is_worst);
}

namespace {

// One entry of one list of a line, said again and again.
class Repeats {
 public:
  explicit Repeats(Inquiry& inquiry)
      : inquiry_(inquiry), most_(inquiry.options().entries), left_(inquiry.options().steps) {}

  void look(const Line& start) {
    const Line whole = inquiry_.play(start).moves;
    const std::vector<Field>& form = inquiry_.game().form();
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (std::size_t f = 0; f < form.size(); ++f)
        if (form[f].kind != FieldKind::choice)
          for (const std::int64_t value : form[f].values)
            if (left_ > 0) try_entry(whole, at, f, value);
  }

  double gain = 0;
  double each = 0;  // what a further entry pays, once there are many
  double once = 0;  // the return where it is said once
  Play best = {};

 private:
  Play with(Line line, std::size_t at, std::size_t field, std::vector<std::int64_t> values) {
    line[at].fields[field] = std::move(values);
    const std::atomic<bool>* cancel = inquiry_.options().cancel;
    left_ = cancel && *cancel ? 0 : left_ - std::min<std::uint64_t>(left_, line.size());
    return inquiry_.play(std::move(line));
  }
  void try_entry(const Line& line, std::size_t at, std::size_t field, std::int64_t value) {
    const auto times = [&](std::size_t count) {
      return with(line, at, field, std::vector<std::int64_t>(count, value));
    };
    const double first = times(1).return_sum;
    Play many = times(most_);
    if (many.return_sum - first <= gain + rounding) return;
    const std::size_t half = most_ / 2;
    const double slope = (many.return_sum - times(half).return_sum) / static_cast<double>(most_ - half);
    if (slope <= rounding) return;
    gain = many.return_sum - first;
    each = slope;
    once = first;
    best = std::move(many);
  }

  Inquiry& inquiry_;
  std::size_t most_;
  std::uint64_t left_;  // steps
};

}  // namespace

void law_bounded(Inquiry& inquiry) {
  if (inquiry.options().entries < 4) return;
  Repeats repeats(inquiry);
  for (const Line& start : inquiry.starts()) {
    repeats.look(start);
    if (repeats.gain > 0) break;
  }
  if (repeats.gain <= 0) return;
  add_return(inquiry,
             {.law = "bounded",
              .owed = "saying the same again in one action does not raise the return each time",
              .code = "repeat",
              .what = fmt::format("every further entry of one action pays {:.4g}, {} of them {:.4g}, and the "
                                  "list has no end",
                                  repeats.each, inquiry.options().entries, repeats.gain),
              .reference = repeats.once,
              .example = repeats.best},
             [](const Play&) { return true; });
}

void law_idle(Inquiry& inquiry) {
  const Found found = inquiry.climb([](const Play& play, double) { return idle_pay(play); },
                                    {.starts = with_idle_steps(inquiry)});
  if (!found || found.value <= rounding) return;
  Finding finding{
      .law = "idle",
      .owed = "a step that gets no work done is not paid",
      .code = "no work",
      .what = fmt::format("a step that gets nothing new done is paid {:.4f}, and may be taken again",
                          found.value),
      .gain = found.value,
      .unit = "return",
      .example = found.play};
  inquiry.minimise(finding, [&](const Play& play) { return idle_pay(play) >= found.value - rounding; });
  inquiry.add(std::move(finding));
}

}  // namespace fuselage::oracle::audit

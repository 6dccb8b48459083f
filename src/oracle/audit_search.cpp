#include "audit_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fuselage::oracle::audit {
namespace {

constexpr std::size_t climbers = 8;

template <class T>
T& any_of(std::vector<T>& values, search::SplitMix& random) {
  return values[random.below(values.size())];
}

struct Climber {
  double value = never;
  Play play = {};
};

// The starts that are allowed, best first; the earlier of equals.
std::vector<Climber> begin(const Game& game, const Search& search, Allowance& allowance) {
  std::vector<Climber> all;
  for (const Line& start : search.starts) {
    if (allowance.left == 0 && !all.empty()) break;
    Climber climber{.play = play(game, start, search.max_steps)};
    allowance.charge(climber.play.moves.size());
    climber.value = search.goal(climber.play, never);
    if (climber.value > never) all.push_back(std::move(climber));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  if (all.size() > climbers) all.resize(climbers);
  return all;
}

}  // namespace

Play play(const Game& game, Line moves, int max_steps) {
  // More answers that use no step than this are cut off: an episode need not end by them.
  const std::size_t longest = moves.size() + static_cast<std::size_t>(max_steps) + 1;
  Play played{.moves = std::move(moves), .max_steps = max_steps};
  const std::unique_ptr<Episode> episode = game.start(max_steps);
  const Move plain = game.plain();
  bool done = false;
  std::size_t at = 0;
  for (; at < longest && !done; ++at) {
    if (at == played.moves.size()) played.moves.push_back(plain);
    const Reply reply = episode->step(played.moves[at]);
    if (reply.counted) played.return_sum += reply.reward;
    done = reply.done;
    played.replies.push_back(reply);
    played.work.push_back(episode->standing().work);
  }
  played.moves.resize(at);
  played.end = episode->standing();
  return played;
}

std::int64_t Changer::value_of(const Field& field) {
  const bool odd = liberties_.odd && !field.odd.empty() && random_.below(6) == 0;
  const Values& values = odd ? field.odd : field.values;
  return values[random_.below(values.size())];
}

// Without the liberty to repeat, an entry of a set stays where it is named first.
void Changer::tidy(const Field& field, Values& values) const {
  if (field.kind == FieldKind::set && !liberties_.repeats) {
    Values once;
    for (const std::int64_t value : values)
      if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
    values = std::move(once);
  }
  if (values.size() > entries_) values.resize(entries_);
}

void Changer::change_list(Line& line, std::size_t at, std::size_t field) {
  Values& values = line[at].fields[field];
  const Values other = line[random_.below(line.size())].fields[field];
  switch (random_.below(values.empty() ? 4 : 9)) {
    case 0:
      values = other;
      break;
    case 1:
      values.insert(values.end(), other.begin(), other.end());
      break;
    case 2:
    case 3:
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(random_.below(values.size() + 1)),
                    value_of(form_[field]));
      break;
    case 4:
    case 5:
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(random_.below(values.size())));
      break;
    case 6:
      std::swap(any_of(values, random_), any_of(values, random_));
      break;
    case 7:
      any_of(values, random_) = value_of(form_[field]);
      break;
    default:
      values.assign(liberties_.repeats ? entries_ >> random_.below(7) : 1, any_of(values, random_));
  }
  tidy(form_[field], values);
}

void Changer::change_field(Line& line, std::size_t at, std::size_t field) {
  if (form_[field].kind == FieldKind::choice)
    line[at].fields[field] = {value_of(form_[field])};
  else
    change_list(line, at, field);
  if (random_.below(16) == 0)
    for (Move& move : line) move.fields[field] = Values(line[at].fields[field]);
}

// Moves as a whole: one more, one less, in another order, two made one.
void Changer::change_order(Line& line, std::size_t at) {
  const auto here = line.begin() + static_cast<std::ptrdiff_t>(at);
  switch (random_.below(7)) {
    case 6:
      line.insert(here, Move(*here));
      break;
    case 0:
      *here = plain_;
      break;
    case 1:
      line.insert(here, Move(any_of(line, random_)));
      break;
    case 2:
      if (line.size() > 1) line.erase(here);
      break;
    case 3:
      std::swap(line[at], any_of(line, random_));
      break;
    case 4:
      line[at] = Move(any_of(line, random_));
      break;
    default:
      if (at + 1 == line.size()) break;
      for (std::size_t f = 0; f < form_.size(); ++f) {
        if (form_[f].kind != FieldKind::set) continue;
        const Values& next = line[at + 1].fields[f];
        line[at].fields[f].insert(line[at].fields[f].end(), next.begin(), next.end());
        tidy(form_[f], line[at].fields[f]);
      }
      line.erase(here + 1);
  }
}

void Changer::change(Line& line) {
  if (line.empty()) line.push_back(plain_);
  do {
    const std::size_t at = random_.below(line.size());
    if (liberties_.unreadable && random_.below(8) == 0)
      line.insert(line.begin() + static_cast<std::ptrdiff_t>(at),
                  {.fields = plain_.fields, .unreadable = true});
    else if (random_.below(5) == 0)
      change_order(line, at);
    else
      change_field(line, at, random_.below(form_.size()));
  } while (random_.below(2) == 0);
  if (line.size() > longest_) line.resize(longest_);
}

Found climb(const Game& game, const Search& search, Allowance& allowance) {
  std::vector<Climber> all = begin(game, search, allowance);
  if (all.empty()) return {};
  search::SplitMix random(search.seed);
  Changer changer(game, search.liberties, search.entries, random);
  for (std::uint64_t round = 1; allowance.left > 0; ++round) {
    Climber& climber = any_of(all, random);
    Line line = climber.play.moves;
    changer.change(line);
    Play next = play(game, std::move(line), search.max_steps);
    allowance.charge(next.moves.size());
    const double value = search.goal(next, climber.value);
    if (value >= climber.value) climber = {.value = value, .play = std::move(next)};
    // Now and then the worst begins anew where the best stands.
    if (round % 1024 != 0) continue;
    const auto [worst, best] = std::minmax_element(
        all.begin(), all.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    *worst = Climber(*best);
  }
  Climber& best = *std::max_element(all.begin(), all.end(),
                                    [](const auto& a, const auto& b) { return a.value < b.value; });
  return {.value = best.value, .play = std::move(best.play)};
}

}  // namespace fuselage::oracle::audit

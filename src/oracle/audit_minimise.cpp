#include <algorithm>
#include <set>
#include <utility>

#include "audit_search.h"

namespace fuselage::oracle::audit {
namespace {

class Minimiser {
 public:
  Minimiser(const Game& game, Play play, const std::function<bool(const Play&)>& passes, Allowance& allowance)
      : game_(game), plain_(game.plain()), best_(std::move(play)), passes_(passes), allowance_(allowance) {}

  Play run() {
    do {
      changed_ = false;
      for (std::size_t at = best_.moves.size(); at-- > 0;) drop(at);
      for (std::size_t at = best_.moves.size(); at-- > 0;) shorten(at);
    } while (changed_ && allowance_.left > 0);
    return std::move(best_);
  }

 private:
  bool take(Line line) {
    if (allowance_.left == 0) return false;
    Play next = play(game_, std::move(line), best_.max_steps);
    allowance_.charge(next.moves.size());
    if (!passes_(next)) return false;
    best_ = std::move(next);
    return changed_ = true;
  }

  void drop(std::size_t at) {
    if (at >= best_.moves.size()) return;
    Line shorter = best_.moves;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at));
    // A move that the end fills with a plain one is no shorter episode.
    if (play(game_, shorter, best_.max_steps).moves.size() < best_.moves.size() && take(shorter)) return;
    // One that says nothing may as well come last.
    const bool is_last = std::all_of(shorter.begin() + static_cast<std::ptrdiff_t>(at), shorter.end(),
                                     [this](const Move& move) { return move == plain_; });
    if (best_.moves[at] == plain_) {
      if (!is_last) take(std::move(shorter));
      return;
    }
    Line plainer = best_.moves;
    plainer[at] = plain_;
    take(std::move(plainer));
  }

  void shorten(std::size_t at) {
    if (at >= best_.moves.size()) return;
    for (std::size_t f = 0; f < plain_.fields.size(); ++f) {
      if (best_.moves[at].fields[f] == plain_.fields[f]) continue;
      Line plainer = best_.moves;
      plainer[at].fields[f] = plain_.fields[f];
      if (take(std::move(plainer))) continue;
      if (game_.form()[f].kind == FieldKind::choice) continue;
      take_entries(at, f);
      if (at < best_.moves.size() && !best_.moves[at].fields[f].empty()) {
        take_one(at, f);
        take_sorted(at, f);
      }
    }
  }

  // One entry in the place of all, if there may be many of it.
  void take_one(std::size_t at, std::size_t field) {
    const std::vector<std::int64_t> entries = best_.moves[at].fields[field];
    const std::set<std::int64_t> once(entries.begin(), entries.end());
    if (once.size() == entries.size()) return;
    for (const std::int64_t value : once) {
      Line even = best_.moves;
      auto& values = even[at].fields[field];
      values.assign(values.size(), value);
      if (even == best_.moves || take(std::move(even))) return;
    }
  }

  void take_sorted(std::size_t at, std::size_t field) {
    if (game_.form()[field].kind != FieldKind::set) return;
    Line sorted = best_.moves;
    auto& values = sorted[at].fields[field];
    std::sort(values.begin(), values.end());
    if (sorted != best_.moves) take(std::move(sorted));
  }

  // Halves first, then ever smaller parts, down to single entries.
  void take_entries(std::size_t at, std::size_t field) {
    for (std::size_t part = best_.moves[at].fields[field].size() / 2; part > 0; part /= 2) {
      for (std::size_t from = 0;
           at < best_.moves.size() && from + part <= best_.moves[at].fields[field].size();) {
        Line shorter = best_.moves;
        auto& values = shorter[at].fields[field];
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(from);
        values.erase(first, first + static_cast<std::ptrdiff_t>(part));
        if (!take(std::move(shorter))) from += part;
      }
      if (at >= best_.moves.size()) return;
    }
  }

  const Game& game_;
  Move plain_;
  Play best_;
  const std::function<bool(const Play&)>& passes_;
  Allowance& allowance_;
  bool changed_ = false;
};

}  // namespace

Play minimise(const Game& game, Play play, const std::function<bool(const Play&)>& passes,
              Allowance& allowance) {
  return Minimiser(game, std::move(play), passes, allowance).run();
}

}  // namespace fuselage::oracle::audit

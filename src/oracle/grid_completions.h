// The best completions that any search found of the states of one grid problem: a table that is shared by all
// its states, since a plan from one of them completes all that it leads through. What is better than what was
// known replaces it; nothing is claimed beyond what some plan costs.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fuselage/grid/problem.h"
#include "fuselage/search/outcome.h"

namespace fuselage::oracle {

struct CompletionOptions {
  std::uint64_t first_steps = 15'000;  // kernels priced by each of the first searches, about
  std::uint64_t steps = 1'500;         // by the search from another state
  std::uint64_t seed = 0;
  const std::atomic<bool>* cancel = nullptr;
};

class Completions {
 public:
  using Outcome = search::Outcome<grid::State, grid::GridKernel>;

  // The problem must outlive it.
  Completions(const grid::GridProblem& problem, const CompletionOptions& options)
      : problem_(problem), options_(options) {}

  std::uint64_t steps() const { return steps_; }

  // The plans of a beam and a tree search from the start.
  void search_from_start();
  // The plan of any search from `start`, and what that proves.
  void note(const grid::State& start, const Outcome& outcome);

  // What the cheapest completion known costs; infinite: none is.
  double known(const grid::State& state);
  // The same; searches for one if nobody has from here.
  double of(const grid::State& state);
  // Did a search find that no completion within the declared space costs less?
  bool exhausted(const grid::State& state);

  // From `from` one may go on with this kernel, and what is known after it.
  void add_way(const grid::State& from, const grid::GridKernel& kernel);
  // Carries what was found late back to the states before it. Until the next search or way, what is known of
  // a state is exactly what its plan costs, summed from its end.
  void settle();
  // The first kernel of the cheapest completion known; none: none is, or the schedule is complete.
  std::optional<grid::GridKernel> next(const grid::State& state);
  // All its kernels; some completion must be known.
  std::vector<grid::GridKernel> plan(const grid::State& state);

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  struct Entry;
  struct Way {
    grid::GridKernel kernel = {};
    double price = 0;
    Entry* after = nullptr;  // null: the schedule is complete
  };
  struct Entry {
    grid::State state;
    double best = infinity;
    bool searched = false;
    bool exhausted = false;
    std::vector<Way> ways = {};
  };

  bool is_complete(const grid::State& state) const { return problem_.progress(state) >= problem_.horizon(); }
  Entry& entry(const grid::State& state);
  static const Way& cheapest(const Entry& entry);
  static double cost(const Way& way) { return way.price + (way.after ? way.after->best : 0); }
  static void add_way(Entry& from, const Way& way);

  const grid::GridProblem& problem_;
  CompletionOptions options_;
  std::uint64_t steps_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<Entry>>> known_;
};

}  // namespace fuselage::oracle

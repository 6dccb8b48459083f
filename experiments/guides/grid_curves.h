// A search as a curve: after how many pricings it had found a plan of which cost. Three things are counted.
// `priced` is the engines' own meter: kernels whose price was asked to decide. `listed` are kernels that the
// problem declared for states that were expanded: before it declares one, the grid family asks the cost cache
// whether it fits, for every engine and whatever a guide drops later. `searched` are the questions of either
// sort that the cost cache had not heard before, each a search for the best granularity; the kernels of the
// catalogue, which is priced when a problem is set up and is the same for all, are not among them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/grid/problem.h"
#include "fuselage/search/outcome.h"

namespace fuselage::experiments {

struct Mark {
  std::uint64_t priced = 0;
  std::uint64_t listed = 0;
  std::uint64_t searched = 0;
  double cost = 0;
};

struct Curve {
  std::vector<Mark> marks = {};  // one for each better plan
  Mark end = {};

  bool found() const { return !marks.empty(); }
  double cost() const { return end.cost; }
  // The first mark that is no dearer; null if there is none.
  const Mark* reach(double cost) const {
    for (const Mark& mark : marks)
      if (mark.cost <= cost * (1 + 1e-9)) return &mark;
    return nullptr;
  }
  // After so many pricings; infinite: no plan yet.
  double cost_at(std::uint64_t priced) const {
    double cost = std::numeric_limits<double>::infinity();
    for (const Mark& mark : marks)
      if (mark.priced <= priced) cost = mark.cost;
    return cost;
  }
};

// A grid problem that counts what it is asked. Of one thread.
class CountedGrid {
 public:
  using State = grid::State;
  using Kernel = grid::GridKernel;

  explicit CountedGrid(const grid::GridProblem& problem);

  State initial() const { return problem_.initial(); }
  int horizon() const { return problem_.horizon(); }
  int progress(const State& s) const { return problem_.progress(s); }
  bool kernels(const State& s, std::vector<Kernel>& out) const;
  double price(const State& s, const Kernel& k) const {
    note(s, k);
    return problem_.price(s, k);
  }
  State apply(const State& s, const Kernel& k) const { return problem_.apply(s, k); }
  double bound(const State& s) const { return problem_.bound(s); }
  double estimate(const State& s) const { return problem_.estimate(s); }
  std::uint64_t key(const State& s) const { return problem_.key(s); }
  std::uint64_t dominance_class(const State& s) const { return problem_.dominance_class(s); }
  bool dominates(const State& a, double cost_a, const State& b, double cost_b) const {
    return problem_.dominates(a, cost_a, b, cost_b);
  }

  std::uint64_t listed() const { return listed_; }
  std::uint64_t searched() const { return asked_.size() - catalogue_; }
  std::uint64_t catalogue() const { return catalogue_; }  // kernels that set up the problem, alike ones once

 private:
  void note(const State& s, const Kernel& k) const;

  const grid::GridProblem& problem_;
  mutable std::unordered_set<std::uint64_t> asked_;
  mutable std::uint64_t listed_ = 0;
  std::uint64_t catalogue_ = 0;
};

// Runs an engine until it ends, has priced `most` kernels, or has found a plan of the cost `enough`.
template <class Engine>
Curve follow(Engine& engine, const CountedGrid& problem, std::uint64_t most, double enough) {
  Curve curve;
  curve.end.cost = std::numeric_limits<double>::infinity();
  Meter meter({.steps = most});
  bool ended = false;
  while (!ended && meter.reason() == StopReason::exhausted) {
    meter.pause_after(1);
    ended = engine.run(meter);
    curve.end.priced = meter.steps();
    curve.end.listed = problem.listed();
    curve.end.searched = problem.searched();
    if (!engine.best().found() || engine.best().cost >= curve.end.cost * (1 - 1e-12)) continue;
    curve.end.cost = engine.best().cost;
    curve.marks.push_back(curve.end);
    if (curve.end.cost <= enough * (1 + 1e-9)) break;
  }
  return curve;
}

}  // namespace fuselage::experiments

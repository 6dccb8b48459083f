// What an engine may know of a problem family. A schedule is a list of kernels; one decision is one kernel,
// its cost is paid when it is chosen and never changes later. Engines are written against this concept alone.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fuselage::search {

template <class P>
concept Problem = requires(const P& p, const typename P::State& s, const typename P::Kernel& k,
                           std::vector<typename P::Kernel>& out) {
  typename P::State;
  typename P::Kernel;
  { p.initial() } -> std::same_as<typename P::State>;
  // Units of progress to make; a state with that much is complete.
  { p.horizon() } -> std::convertible_to<int>;
  { p.progress(s) } -> std::convertible_to<int>;  // rises with every kernel
  // Replaces `out` by the declared kernels of s in canonical order. True if an optimal continuation over all
  // legal kernels is among those that they lead to.
  { p.kernels(s, out) } -> std::same_as<bool>;
  { p.price(s, k) } -> std::same_as<double>;  // exact cost, cycles; infinite = not executable
  { p.apply(s, k) } -> std::same_as<typename P::State>;
  { p.bound(s) } -> std::same_as<double>;       // never more than the cheapest completion costs
  { p.key(s) } -> std::same_as<std::uint64_t>;  // equal states have equal keys
  { s == s } -> std::convertible_to<bool>;
};

// Optional: dominates(a, cost_a, b, cost_b) says that no completion of b beats the best one of a, so b may
// go. Only states of equal progress are compared, and only those of equal dominance_class(s).
template <class P>
concept HasDominance = Problem<P> && requires(const P& p, const typename P::State& s, double cost) {
  { p.dominates(s, cost, s, cost) } -> std::same_as<bool>;
  { p.dominance_class(s) } -> std::same_as<std::uint64_t>;
};

// Optional: what must be shared to dominate, in 64 bits: a dominates b only if every bit of dominance_mask(a)
// is one of dominance_mask(b). It spares most comparisons a look at the states.
template <class P>
concept HasDominanceMask = HasDominance<P> && requires(const P& p, const typename P::State& s) {
  { p.dominance_mask(s) } -> std::same_as<std::uint64_t>;
};

// Optional: additions() says of how many numbers a plan's cost is summed at most, one after the other, if not
// of one a kernel: how far rounding can get (core/cost.h).
template <Problem P>
std::size_t additions(const P& p) {
  if constexpr (requires { p.additions(); })
    return p.additions();
  else
    return static_cast<std::size_t>(p.horizon());
}

// Optional: estimate(s) guesses what the cheapest completion costs. It may be wrong either way: it ranks, and
// bounds nothing. Without it states are ranked by their bound.
template <class P>
concept HasEstimate = Problem<P> && requires(const P& p, const typename P::State& s) {
  { p.estimate(s) } -> std::same_as<double>;
};

// A change of a plan: its kernels [first, first + removed) give way to `added`.
template <class Kernel>
struct Move {
  std::size_t first = 0;
  std::size_t removed = 0;
  std::vector<Kernel> added = {};
};

// Optional, for local improvement. `trail[i]` is the state before kernel i of the plan, trail.back() its end.
template <class P>
concept HasNeighbours = Problem<P> && requires(const P& p, const std::vector<typename P::State>& trail,
                                               const std::vector<typename P::Kernel>& plan, std::size_t at,
                                               std::vector<Move<typename P::Kernel>>& out,
                                               const typename P::State& s, const typename P::Kernel& k) {
  // Replaces `out` by the moves that change kernel `at`, and perhaps kernels after it, in canonical order.
  p.neighbours(trail, plan, at, out);
  // The kernel that does most of what k did and that s can run; none if s can't run its nodes.
  { p.refit(s, k) } -> std::same_as<std::optional<typename P::Kernel>>;
};

}  // namespace fuselage::search

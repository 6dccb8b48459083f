// What an engine may know of a problem family. A schedule is a list of kernels; one decision is one kernel,
// its cost is paid when it is chosen and never changes later. Engines are written against this concept alone.
#pragma once

#include <concepts>
#include <cstdint>
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

}  // namespace fuselage::search

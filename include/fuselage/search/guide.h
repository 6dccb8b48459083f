// What learning plugs into. For every state that an engine is about to expand, a guide says which kernels are
// worth pricing and in which order, how likely each is to be right, and what completing the schedule may cost
// after it. A whole layer is asked in one batch, so that a model runs on matrices. A guide may carry a latent
// vector from node to node, so that candidates are rolled forward without touching the graph.
//
// Nothing that a guide says is trusted: kernels that it keeps are priced exactly, and whatever it leaves out
// counts as open, so a lower bound after dropping is that of the parent.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/search/problem.h"

namespace fuselage::search {

// One state to expand. An engine fills the first three, a guide the rest; `keep` is empty when it arrives.
template <class P, class Latent>
struct Expansion {
  const typename P::State* state = nullptr;
  const Latent* latent = nullptr;
  std::span<const typename P::Kernel> kernels = {};

  std::vector<std::uint32_t> keep = {};  // places in `kernels` to price, the most promising first
  std::vector<double> prior = {};        // for each kept: its probability; empty = all alike
  std::vector<double> after = {};    // for each kept: guess of the cost to go after it, cycles; may be empty
  std::vector<Latent> latents = {};  // for each kept: of the state after it; empty if Latent is
};

// `drops`: may it leave kernels out? Then no proof can rest on it, and the exact engine doesn't take it.
template <class G, class P>
concept Guide = Problem<P> && requires(G& g, const P& p, const typename P::State& s,
                                       std::span<Expansion<P, typename G::Latent>> batch) {
  typename G::Latent;
  { G::drops } -> std::convertible_to<bool>;
  { g.root(p, s) } -> std::same_as<typename G::Latent>;
  g.consider(p, batch);
};

struct NoLatent {};

// Knows nothing: every kernel in canonical order, all alike. Engines don't call it; they check for the type.
struct KeepAll {
  using Latent = NoLatent;
  static constexpr bool drops = false;
  template <class P>
  NoLatent root(const P&, const typename P::State&) const {
    return {};
  }
  template <class P>
  void consider(const P&, std::span<Expansion<P, NoLatent>> batch) const {
    for (Expansion<P, NoLatent>& e : batch)
      for (std::uint32_t i = 0; i < e.kernels.size(); ++i) e.keep.push_back(i);
  }
};

}  // namespace fuselage::search

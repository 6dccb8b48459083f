// How a search graph grows: the kernels of a state are listed, ranked by the guide (or as they come), priced,
// and what they lead to is met. A state of very many kernels is priced a part at a time (progressive
// widening: Coulom 2007, "Computing Elo ratings of move patterns in the game of Go"; Couetoux et al. 2011,
// "Continuous upper confidence trees").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/core/error.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/mcts_graph.h"
#include "fuselage/search/problem.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::search {

struct GrowthOptions {
  std::uint64_t seed = 0;       // 0: priors as they are
  std::size_t widen_from = 64;  // kernels priced at first
  double widen_exponent = 0.5;  // widen_from * visits^this of them later
};

template <Problem P, Guide<P> G>
class Growth {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  using Latent = typename G::Latent;
  using Graph = StateGraph<State>;
  using Index = typename Graph::Index;
  using Node = typename Graph::Node;
  using Edge = typename Graph::Edge;

  static constexpr Index root = 0;

  Growth(const P& problem, G& guide, const GrowthOptions& options, const State& start)
      : problem_(problem), guide_(guide), options_(options), random_(options.seed), here_(start) {
    if (options.widen_from == 0) fail("widen_from: 0; at least 1 kernel must be priced");
    meet(State(start));
    if constexpr (has_latents) latents_.push_back(guide.root(problem, start));
  }

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  bool declares_all() const { return declares_all_; }  // kernels() said so of every state so far
  std::uint64_t expanded() const { return expanded_; }
  std::uint64_t bytes() const {
    return graph_.bytes() + ranking_bytes_ + (has_latents ? latents_.size() * sizeof(Latent) : 0);
  }

  void expand(Index n, Meter& meter) {
    ++expanded_;
    declares_all_ = list(n) && declares_all_;
    graph_.node(n).expanded = true;
    graph_.node(n).declared = static_cast<std::uint32_t>(kernels_.size());
    if constexpr (guided) {
      ask_guide(n);
      price(n, options_.widen_from, &asked_, meter);
      keep_ranking(n);
    } else {
      price(n, options_.widen_from, nullptr, meter);
    }
    meter.hold(bytes());
  }

  // Has a node been visited so often that another widen_from of its kernels should be priced?
  bool is_narrow(const Node& node) const {
    if (node.all_priced()) return false;
    const auto from = static_cast<double>(options_.widen_from);
    return node.priced + from <= from * std::pow(static_cast<double>(node.visits), options_.widen_exponent);
  }
  void widen(Index n, Meter& meter) {
    list(n);
    const Index ranking = graph_.node(n).ranking;
    price(n, options_.widen_from, ranking == Graph::none ? nullptr : &rankings_[ranking], meter);
    meter.hold(bytes());
  }

  // Kernel number `kernel` of a node's state.
  Kernel kernel(Index n, std::uint32_t kernel) {
    list(n);
    return kernels_[kernel];
  }

 private:
  using Ranking = Expansion<P, Latent>;

  static constexpr bool guided = !std::is_same_v<G, KeepAll>;
  static constexpr bool has_latents = !std::is_empty_v<Latent>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t siblings = 8;
  static constexpr double noise = 0.5;  // priors are drawn within this share of themselves

  // A node is often asked several times in a row, and may have very many kernels.
  bool list(Index n) {
    if (listed_ == n) return listed_all_;
    listed_ = n;
    here_ = graph_.state(n);
    listed_all_ = problem_.kernels(here_, kernels_);
    return listed_all_;
  }

  void ask_guide(Index n) {
    asked_.state = &here_;
    if constexpr (has_latents) asked_.latent = &latents_[n];
    asked_.kernels = kernels_;
    asked_.keep.clear();
    asked_.prior.clear();
    asked_.after.clear();
    asked_.latents.clear();
    guide_.consider(problem_, std::span(&asked_, 1));
    for (std::uint32_t k : asked_.keep)
      if (k >= kernels_.size()) fail("guide: keep: {}; the state has {} kernels", k, kernels_.size());
    if (!G::drops && asked_.keep.size() < kernels_.size())
      fail("guide: keep: {} of {} kernels; a guide that drops must say so", asked_.keep.size(),
           kernels_.size());
    graph_.node(n).declared = static_cast<std::uint32_t>(asked_.keep.size());
  }
  void keep_ranking(Index n) {
    Node& node = graph_.node(n);
    if (node.all_priced()) return;
    node.ranking = static_cast<Index>(rankings_.size());
    rankings_.push_back(std::move(asked_));
    asked_ = {};
    const Ranking& kept = rankings_.back();
    ranking_bytes_ += sizeof(Ranking) + kept.keep.size() * sizeof(std::uint32_t) +
                      (kept.prior.size() + kept.after.size()) * sizeof(double) +
                      kept.latents.size() * sizeof(Latent);
  }

  // Unranked kernels come in canonical order; if they are too many to price at once, spread evenly over it,
  // whatever the number priced (multiples of the golden ratio, modulo 1).
  std::uint32_t spread(std::uint32_t i, std::uint32_t count) const {
    if (count <= options_.widen_from) return i;
    auto stride = static_cast<std::uint64_t>(0.6180339887498949 * count);
    while (std::gcd(stride, static_cast<std::uint64_t>(count)) != 1) ++stride;
    return static_cast<std::uint32_t>(i * stride % count);
  }

  // Prices the next `count` kernels of the state in here_, and adds those that can matter as edges.
  void price(Index n, std::size_t count, const Ranking* ranking, Meter& meter) {
    const std::uint32_t declared = graph_.node(n).declared;
    const std::uint32_t from = graph_.node(n).priced;
    const auto to = static_cast<std::uint32_t>(std::min<std::size_t>(declared, from + count));
    graph_.node(n).priced = to;
    meter.charge(to - from);
    for (std::uint32_t i = from; i < to; ++i) {
      const std::uint32_t k = ranking ? ranking->keep[i] : spread(i, declared);
      const double price = problem_.price(here_, kernels_[k]);
      if (price == infinity) continue;
      State next = problem_.apply(here_, kernels_[k]);
      if (is_beaten(graph_.node(n), next, price)) continue;
      const Index known = graph_.size();
      const Index child = meet(std::move(next));
      if (ranking && child == known) note(child, *ranking, i);
      if (graph_.node(child).lower == infinity) continue;
      double prior = ranking && !ranking->prior.empty() ? ranking->prior[i] : 1.0 / declared;
      if (options_.seed != 0) prior *= 1 + noise * (2 * random_.unit() - 1);
      graph_.add_edge(n, {.price = price, .child = child, .kernel = k, .prior = static_cast<float>(prior)});
    }
  }

  // Is another kernel of the node no dearer and leads to a state no worse? Such siblings lie close to each
  // other, and one more edge costs time only: the last few are compared with.
  bool is_beaten(const Node& node, const State& next, double price) const {
    const Edge* edges = graph_.edges(node);
    for (std::uint32_t e = node.edges < siblings ? 0 : node.edges - siblings; e < node.edges; ++e) {
      const State& other = graph_.state(edges[e].child);
      if constexpr (HasDominance<P>) {
        if (problem_.progress(other) == problem_.progress(next) &&
            problem_.dominates(other, edges[e].price, next, price))
          return true;
      } else {
        if (edges[e].price <= price && other == next) return true;
      }
    }
    return false;
  }

  Index meet(State&& state) {
    const std::uint64_t key = problem_.key(state);
    const auto [n, is_new] = graph_.find_or_add(std::move(state), key);
    if (!is_new) return n;
    Node& node = graph_.node(n);
    const State& met = graph_.state(n);
    node.complete = problem_.progress(met) >= problem_.horizon();
    node.lower = node.complete ? 0.0 : problem_.bound(met);
    if (node.complete) node.best = 0;
    node.closed = node.complete || node.lower == infinity;
    node.guess = node.closed ? 0.0 : node.lower;
    if constexpr (HasEstimate<P>) {
      if (!node.closed) believe(node, problem_.estimate(met));
    }
    return n;
  }
  static void believe(Node& node, double to_go) {
    if (to_go < infinity) node.guess = std::max(node.lower, to_go);
  }
  void note(Index child, const Ranking& ranking, std::uint32_t i) {
    if (!ranking.after.empty() && !graph_.node(child).closed) believe(graph_.node(child), ranking.after[i]);
    if constexpr (has_latents) latents_.push_back(ranking.latents[i]);
  }

  const P& problem_;
  G& guide_;
  GrowthOptions options_;
  SplitMix random_;
  Graph graph_;
  std::vector<Latent> latents_;    // by node; empty if there are none
  std::vector<Ranking> rankings_;  // of nodes that were not priced at once
  std::uint64_t ranking_bytes_ = 0;
  std::uint64_t expanded_ = 0;
  bool declares_all_ = true;
  Ranking asked_;
  State here_;  // the state whose kernels are listed
  Index listed_ = Graph::none;
  bool listed_all_ = false;
  std::vector<Kernel> kernels_;
};

}  // namespace fuselage::search

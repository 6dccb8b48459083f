// Best first by doubt: the plan that the ranker holds for best comes first, after as many pricings as it has
// kernels or little more, then the plans that differ from it where the ranker was least sure (W. Harvey,
// M. Ginsberg, "Limited discrepancy search", IJCAI 1995, with log odds in place of a count). A kernel's doubt
// is by how much its score is below the best of its state; a plan's is the sum over its kernels. Where
// several kernels score nearly alike they are priced at once, and what each costs more, by its price and the
// problem's own guess of the rest, is added to its doubt. A state that was reached before at no higher cost
// ends the way, so does a bound that no better plan can meet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/sweep.h"

namespace fuselage::oracle {

struct DoubtOptions {
  double near = 0.4;        // kernels of no more doubt than this are priced at once if there are several
  double cost_weight = 4;   // of a loss of one unit of cost in a doubt
  double unit_of_cost = 1;  // the problem's, say what an op takes alone on average
};

// `G`: a guide whose `prior` are probabilities, the most promising first.
template <search::Problem P, search::Guide<P> G>
class DoubtSearch {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;
  static constexpr std::string_view name = "doubt";

  // Problem and guide must outlive it.
  DoubtSearch(const P& problem, G& guide, const DoubtOptions& options)
      : problem_(problem), guide_(guide), options_(options) {}

  // Goes on until nothing is open (true) or the meter is spent.
  bool run(Meter& meter) {
    if (nodes_.empty()) meet(problem_.initial(), {}, meter);
    while (!open_.empty()) {
      if (meter.spent()) return false;
      const Open next = open_.top();
      open_.pop();
      follow(next, meter);
      meter.hold(bytes());
    }
    return true;
  }
  void offer(double cost) {
    upper_bound_ = std::min(upper_bound_, unbeatable_from(cost, search::additions(problem_)));
  }

  bool finished() const { return !nodes_.empty() && open_.empty(); }
  const search::Incumbent<Kernel>& best() const { return best_; }
  std::uint64_t states() const { return nodes_.size(); }
  std::uint64_t bytes() const {
    return nodes_.size() * sizeof(Node) + priced_.size() * sizeof(Priced) + open_.size() * sizeof(Open);
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  // How a state was reached.
  struct Way {
    double cost = 0;
    double doubt = 0;
    std::size_t parent = none;
    Kernel kernel = {};
  };
  struct Node {
    State state;
    Way way;
    std::vector<Kernel> kernels = {};  // that the guide keeps
    std::vector<double> doubts = {};   // of each
  };
  struct Priced {
    State after;
    double cost = 0;  // from the start
  };
  struct Open {
    double doubt = 0;
    std::uint64_t age = 0;
    std::size_t node = 0;
    std::size_t kernel = 0;
    std::size_t priced = none;
    // The least doubt first, of equals the latest.
    friend bool operator<(const Open& a, const Open& b) {
      return a.doubt > b.doubt || (a.doubt == b.doubt && a.age < b.age);
    }
  };

  bool hopeless(const State& state, double cost) const {
    return cost + problem_.bound(state) >= upper_bound_;
  }
  double guess(const Priced& priced) const {
    if constexpr (search::HasEstimate<P>) return priced.cost + problem_.estimate(priced.after);
    return priced.cost + problem_.bound(priced.after);
  }

  void follow(const Open& open, Meter& meter) {
    const Node& from = nodes_[open.node];
    if (hopeless(from.state, from.way.cost)) return;
    const std::size_t at = open.priced == none ? price(open.node, open.kernel, meter) : open.priced;
    if (at == none || hopeless(priced_[at].after, priced_[at].cost)) return;
    meet(std::move(priced_[at].after),
         {.cost = priced_[at].cost,
          .doubt = open.doubt,
          .parent = open.node,
          .kernel = from.kernels[open.kernel]},
         meter);
  }

  // Place in priced_; none: the kernel can't run.
  std::size_t price(std::size_t node, std::size_t kernel, Meter& meter) {
    const Node& from = nodes_[node];
    meter.charge(1);
    const double price = problem_.price(from.state, from.kernels[kernel]);
    if (price == search::infinite_cost) return none;
    priced_.push_back(
        {.after = problem_.apply(from.state, from.kernels[kernel]), .cost = from.way.cost + price});
    return priced_.size() - 1;
  }

  void meet(State&& state, Way way, Meter& meter) {
    if (problem_.progress(state) >= problem_.horizon()) return end(way);
    std::vector<std::size_t>& alike = seen_[problem_.key(state)];
    for (std::size_t n : alike)
      if (nodes_[n].state == state &&
          way.cost >= unbeatable_from(nodes_[n].way.cost, search::additions(problem_)))
        return;
    const std::size_t n = nodes_.size();
    alike.push_back(n);
    nodes_.push_back({.state = std::move(state), .way = std::move(way)});
    ask(nodes_.back());
    open(n, meter);
  }

  void ask(Node& node) {
    problem_.kernels(node.state, kernels_);
    if (kernels_.empty()) return;
    const typename G::Latent latent = {};
    search::Expansion<P, typename G::Latent> asked{
        .state = &node.state, .latent = &latent, .kernels = kernels_};
    guide_.consider(problem_, std::span(&asked, 1));
    for (std::size_t i = 0; i < asked.keep.size(); ++i) {
      node.kernels.push_back(kernels_[asked.keep[i]]);
      node.doubts.push_back(asked.prior.empty() ? 0 : std::log(asked.prior[0] / asked.prior[i]));
    }
  }

  // All kernels of a node, those that are nearly alike priced.
  void open(std::size_t n, Meter& meter) {
    const Node& node = nodes_[n];
    std::size_t near = 0;
    while (near < node.doubts.size() && node.doubts[near] <= options_.near) ++near;
    for (std::size_t i = node.doubts.size(); i-- > near;)
      open_.push({.doubt = node.way.doubt + node.doubts[i], .age = age_++, .node = n, .kernel = i});
    if (near == 1) open_.push({.doubt = node.way.doubt, .age = age_++, .node = n, .kernel = 0});
    if (near > 1) open_priced(n, near, meter);
  }

  void open_priced(std::size_t n, std::size_t near, Meter& meter) {
    const Node& node = nodes_[n];
    std::vector<Open> ready;
    double least_guess = search::infinite_cost;
    for (std::size_t i = 0; i < near; ++i) {
      const std::size_t at = price(n, i, meter);
      if (at == none) continue;
      ready.push_back({.doubt = node.doubts[i], .age = 0, .node = n, .kernel = i, .priced = at});
      least_guess = std::min(least_guess, guess(priced_[at]));
    }
    double least = search::infinite_cost;
    for (Open& o : ready) {
      const double loss = (guess(priced_[o.priced]) - least_guess) / options_.unit_of_cost;
      o.doubt += options_.cost_weight * loss;
      least = std::min(least, o.doubt);
    }
    // The guide's favourite is the latest of equals.
    for (std::size_t i = ready.size(); i-- > 0;) {
      ready[i].doubt += node.way.doubt - least;
      ready[i].age = age_++;
      open_.push(ready[i]);
    }
  }

  void end(const Way& way) {
    if (way.cost >= upper_bound_) return;
    best_.cost = way.cost;
    offer(way.cost);
    best_.plan = {way.kernel};
    for (std::size_t n = way.parent; nodes_[n].way.parent != none; n = nodes_[n].way.parent)
      best_.plan.push_back(nodes_[n].way.kernel);
    std::reverse(best_.plan.begin(), best_.plan.end());
  }

  const P& problem_;
  G& guide_;
  DoubtOptions options_;
  std::deque<Node> nodes_;
  std::deque<Priced> priced_;
  std::priority_queue<Open> open_;
  std::uint64_t age_ = 0;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> seen_;
  std::vector<Kernel> kernels_;
  double upper_bound_ = search::infinite_cost;
  search::Incumbent<Kernel> best_;
};

}  // namespace fuselage::oracle

// One Monte Carlo search tree (a graph, since equal states are one node), searched by one thread, for the
// cheapest schedule. An iteration descends from the root by the PUCT rule, expands what it arrives at, and
// dives greedily from there to the end of the schedule; then costs and bounds go up the path:
//
//   PUCT: the edge of most  -(price + to_go(child)) / range + c prior sqrt(N) / (1 + n)
//
// where N and n are the visits of node and edge, and range is what plans are apart: the first plan's cost
// less the root's bound. Everything is deterministic and costs are exact, so to_go is the best completion
// known (Backup::max), not a mean. Before one is known it is the child's guess (its bound, estimate or the
// guide's word) times how much the node's best kernel went over its own guess; bounds alone would look better
// than any plan, and the search would go broad.
//
// Lower bounds go up the same path: what cannot beat the incumbent is not visited, exhausted subtrees close,
// and when the root closes the incumbent is proven. Every iteration prices a kernel, or raises a bound, or
// finds a plan; so it ends.
//
// Rosin 2011, "Multi-armed bandits with episode context" (PUCT). Silver et al. 2018, "A general reinforcement
// learning algorithm that masters chess, shogi, and Go through self-play" (this form of it). Winands et al.
// 2008, "Monte-Carlo tree search solver" (closing). Schadd et al. 2008, "Single-player Monte-Carlo tree
// search" (one player: the best, not the mean). Czech et al. 2021, "Improving AlphaZero using Monte-Carlo
// graph search" (transpositions: visits belong to edges, values to nodes).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/search/guide.h"
#include "fuselage/search/mcts_growth.h"
#include "fuselage/search/monitor.h"
#include "fuselage/search/outcome.h"
#include "fuselage/search/problem.h"

namespace fuselage::search {

// What an edge is worth: price + the best completion known after it, or + the mean of those sampled.
enum class Backup : std::uint8_t { max, mean };

struct MctsOptions {
  Budget budget = {};
  std::uint64_t seed = 0;  // other than 0: priors and the first dive get noise, so that seeds differ
  int threads = 1;         // trees that exchange the cost of the best plan
  Backup backup = Backup::max;
  double exploration = 0.1;  // c of the PUCT rule
  double dive_noise = 0.05;  // a dive takes a guess for up to this share more; seed 0 not in its first
  std::size_t widen_from = 64;
  double widen_exponent = 0.5;
  Monitor* monitor = nullptr;
};

template <Problem P, Guide<P> G = KeepAll>
class MctsTree {
 public:
  using State = typename P::State;
  using Kernel = typename P::Kernel;

  // Problem, guide and monitor must outlive the tree. The budget and threads of the options are not its own.
  MctsTree(const P& problem, G& guide, const MctsOptions& options, const State& start)
      : growth_(problem, guide,
                {.seed = options.seed,
                 .widen_from = options.widen_from,
                 .widen_exponent = options.widen_exponent},
                start),
        backup_(options.backup),
        exploration_(options.exploration),
        dive_noise_(options.dive_noise),
        monitor_(options.monitor),
        is_seeded_(options.seed != 0),
        random_(~options.seed),
        start_bound_(node(root).lower),
        rounding_(rounding_of(additions(problem))),
        slack_(rounding_) {
    if (node(root).complete) record();
  }

  // Goes on until the root is closed (true) or the meter is spent, from wherever the last run stopped. Steps
  // don't stop it before there is a plan, but for a few dead ends; when time is up it gets another moment.
  bool run(Meter& meter) {
    while (!closed() && (!meter.spent() || may_overrun(meter))) advance(meter);
    if (plan_is_stale_ && !read_off_plan(meter)) return false;
    return closed();
  }

  // Somebody else has a plan of this cost.
  void offer(double cost) {
    is_news_ = is_news_ || cost < upper_;
    upper_ = std::min(upper_, cost);
  }

  const Incumbent<Kernel>& best() const { return incumbent_; }
  // Is there no better plan than the best one found here or offered?
  bool closed() const { return node(root).closed || is_hopeless(node(root).lower); }
  // Of all plans. Infinite: there is none.
  double lower_bound() const {
    if (!proves()) return start_bound_;
    const double lower = node(root).lower;
    // A closed root's is what the best plan costs, summed from its end.
    if (node(root).closed && lower < infinity && lower >= upper_ * (1 - rounding_)) return upper_;
    return lower == infinity ? infinity : std::min(lower, upper_);
  }
  Proof proof() const {
    if (!closed() || plan_is_stale_ || G::drops || slack_ > same_cost) return Proof::none;
    return growth_.declares_all() ? Proof::optimal : Proof::optimal_in_declared_space;
  }
  std::uint64_t states() const { return growth_.expanded(); }
  std::uint64_t bytes() const { return growth_.bytes(); }

  // The states of most progress that were met.
  std::vector<State> deepest(const P& problem) const {
    std::vector<State> states;
    for (Index n = 0; n < graph().size(); ++n) {
      const State& state = graph().state(n);
      if (!states.empty() && problem.progress(state) < problem.progress(states[0])) continue;
      if (!states.empty() && problem.progress(state) > problem.progress(states[0])) states.clear();
      states.push_back(state);
    }
    return states;
  }

 private:
  using Grown = Growth<P, G>;
  using Graph = typename Grown::Graph;
  using Index = typename Grown::Index;
  using Node = typename Grown::Node;
  using Edge = typename Grown::Edge;

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr Index root = Grown::root;
  static constexpr std::uint32_t no_edge = std::numeric_limits<std::uint32_t>::max();
  static constexpr int most_overruns = 32;                       // dead ends after a spent meter
  static constexpr std::size_t kernels_between_looks = 1 << 12;  // at the clock, while a plan is read off

  struct Step {
    Index node = root;
    std::uint32_t edge = no_edge;  // offset among the node's edges
  };
  struct Choice {
    Index node = root;
    std::uint32_t kernel = 0;
  };

  Graph& graph() { return growth_.graph(); }
  const Graph& graph() const { return growth_.graph(); }
  Node& node(Index n) { return graph().node(n); }
  const Node& node(Index n) const { return graph().node(n); }

  bool proves() const { return growth_.declares_all() && !G::drops; }
  bool is_hopeless(double total) const { return !(total < upper_ * (1 - slack_)); }

  bool may_overrun(Meter& meter) {
    if (upper_ < infinity) return false;
    if (meter.hurried()) {
      if (!moment_) moment_ = meter.overrun();
      if (moment_->hurried()) return false;
    }
    return !path_.empty() || overruns_++ < most_overruns;
  }

  // One kernel further down, or at the end of the path up again. A spent meter interrupts an iteration
  // between two of these, and the next run goes on from there: where it is cut does not change the search.
  void advance(Meter& meter) {
    if (path_.empty()) begin(meter);
    const Index n = path_.back().node;
    if (node(n).complete) return back_up();
    if (!node(n).expanded) {
      growth_.expand(n, meter);
      diving_ = is_news_ = true;
    } else if (!diving_ && growth_.is_narrow(node(n))) {
      growth_.widen(n, meter);
      is_news_ = true;
    }
    std::uint32_t edge = choose(node(n));
    // Nothing that was priced can help; what was not might.
    while (edge == no_edge && !node(n).all_priced() && !is_hopeless(spent_ + node(n).lower)) {
      growth_.widen(n, meter);
      is_news_ = true;
      edge = choose(node(n));
    }
    if (edge == no_edge) return back_up();
    const Edge& chosen = graph().edges(node(n))[edge];
    path_.back().edge = edge;
    spent_ += chosen.price;
    path_.push_back({.node = chosen.child});
  }

  void begin(const Meter& meter) {
    if (monitor_) monitor_->worked("mcts", meter.steps() - std::min(meter.steps(), told_steps_));
    told_steps_ = meter.steps();
    path_.push_back({.node = root});
    spent_ = 0;
    diving_ = is_news_ = false;
  }

  // How much the completion over the node's best kernel costs, for each cycle of its guess.
  double stretch(const Node& from) const {
    if (from.best == infinity) return root_stretch_;
    const Node& next = graph().child(graph().edges(from)[from.best_edge]);
    return next.guess > 0 ? next.best / next.guess : 1.0;
  }
  static double to_go(const Node& to, double stretch) {
    return to.best < infinity ? to.best : std::max(to.lower, to.guess * stretch);
  }

  // The edge to follow: by PUCT above the first new node; below it the cheapest, where guesses get noise, or
  // all dives would end alike. Ties go to the earlier one.
  std::uint32_t choose(const Node& from) {
    const double room = upper_ * (1 - slack_) - spent_;
    const double factor = stretch(from);
    const double weight =
        diving_ ? 0.0 : exploration_ * range_ * std::sqrt(std::max(1.0, static_cast<double>(from.visits)));
    const double noise = diving_ && (is_seeded_ || best_cost_ < infinity) ? dive_noise_ : 0.0;
    const bool by_mean = backup_ == Backup::mean && !diving_;
    const Edge* edges = graph().edges(from);
    std::uint32_t best = no_edge;
    double best_score = 0;
    for (std::uint32_t e = 0; e < from.edges; ++e) {
      const Node& to = graph().child(edges[e]);
      if ((to.closed && !diving_) || !(edges[e].price + to.lower < room)) continue;
      double after = by_mean && to.visits > 0 ? to.mean : to_go(to, factor);
      if (noise > 0 && to.best == infinity) after *= 1 + noise * random_.unit();
      const double score =
          weight * static_cast<double>(edges[e].prior) / (1.0 + edges[e].visits) - edges[e].price - after;
      if (best != no_edge && !(score > best_score)) continue;
      best = e;
      best_score = score;
    }
    return best;
  }

  void back_up() {
    double sample = sampled(node(path_.back().node));
    for (std::size_t i = path_.size(); i-- > 0;) {
      Node& at = node(path_[i].node);
      if (path_[i].edge != no_edge) {
        Edge& edge = graph().edges(at)[path_[i].edge];
        ++edge.visits;
        sample += edge.price;
      }
      ++at.visits;
      at.mean += (sample - at.mean) / at.visits;
      if (at.expanded && !at.closed) refresh(at);
    }
    path_.clear();
    if (node(root).best < best_cost_) record();
    if (monitor_ && proves()) monitor_->bounded("mcts", lower_bound());
    // The end of a path that is neither new nor worth more visits raised a bound, or else two sums differ by
    // rounding just where the incumbent cuts: a little more slack parts them.
    if (!is_news_) slack_ *= 2;
  }
  // A dead end counts as a poor plan.
  double sampled(const Node& end) const {
    const bool is_dead = end.lower == infinity;
    return is_dead ? end.guess * root_stretch_ + range_ : to_go(end, root_stretch_);
  }

  // Takes what the children know. Edges that cannot beat the node's best completion go.
  void refresh(Node& at) {
    Edge* edges = graph().edges(at);
    double lower = infinity;
    const double best_before = at.best;
    for (std::uint32_t e = 0; e < at.edges; ++e) {
      const Node& to = graph().child(edges[e]);
      lower = std::min(lower, edges[e].price + to.lower);
      if (edges[e].price + to.best < at.best) {
        at.best = edges[e].price + to.best;
        at.best_edge = e;
      }
    }
    if (at.best < infinity) drop_useless(at);
    lower = at.all_priced() ? std::min(lower, at.best) : at.lower;
    is_news_ = is_news_ || lower > at.lower || at.best < best_before;
    at.lower = std::max(at.lower, lower);
    if (at.lower < at.best * (1 - rounding_)) return;
    if (at.best < infinity) at.lower = at.best;
    at.closed = true;
    is_news_ = true;
  }
  void drop_useless(Node& at) {
    Edge* edges = graph().edges(at);
    const double useless = at.best * (1 - rounding_);
    const std::uint32_t best_edge = at.best_edge;
    std::uint32_t kept = 0;
    for (std::uint32_t e = 0; e < at.edges; ++e) {
      if (e == best_edge)
        at.best_edge = kept;
      else if (edges[e].price + graph().child(edges[e]).lower >= useless)
        continue;
      edges[kept++] = edges[e];
    }
    at.edges = kept;
  }

  // The best plan of the graph, along best edges. Nodes on the way may have become better than the root
  // knows, never worse.
  void record() {
    double cost = 0;
    trail_.clear();
    Index n = root;
    while (!node(n).complete) {
      const Edge& edge = graph().edges(node(n))[node(n).best_edge];
      cost += edge.price;
      trail_.push_back({.node = n, .kernel = edge.kernel});
      n = edge.child;
    }
    if (range_ == 0) range_ = cost - start_bound_;
    if (node(root).guess > 0) root_stretch_ = cost / node(root).guess;
    if (!(cost < best_cost_)) return;
    best_cost_ = cost;
    upper_ = std::min(upper_, cost);
    best_trail_.swap(trail_);
    plan_is_stale_ = true;
    if (monitor_) monitor_->found("mcts", cost);
  }
  // False if time was up before the last kernel: then the incumbent is the one that was read off before.
  bool read_off_plan(Meter& meter) {
    std::vector<Kernel> plan;
    std::size_t listed = 0;
    for (const Choice& choice : best_trail_) {
      if (listed >= kernels_between_looks) {
        if (meter.hurried() && (!moment_ || moment_->hurried())) return false;
        listed = 0;
      }
      plan.push_back(growth_.kernel(choice.node, choice.kernel));
      listed += node(choice.node).declared + 1;
    }
    incumbent_ = {.cost = best_cost_, .plan = std::move(plan)};
    plan_is_stale_ = false;
    return true;
  }

  Grown growth_;
  Backup backup_;
  double exploration_;
  double dive_noise_;
  Monitor* monitor_;
  bool is_seeded_;
  SplitMix random_;
  double start_bound_;
  double upper_ = infinity;  // cost of the best plan that anybody has
  double rounding_;          // core/cost.h
  double slack_;             // what does not beat it by this share is as good as equal
  double range_ = 0;         // cycles; 0 before the first plan
  double root_stretch_ = 1;
  std::uint64_t told_steps_ = 0;
  int overruns_ = 0;
  std::optional<Meter> moment_;  // for the first plan, once time is up

  // The iteration under way; an empty path: none.
  std::vector<Step> path_;
  double spent_ = 0;      // cycles from the root to the end of the path
  bool diving_ = false;   // below the first new node
  bool is_news_ = false;  // a kernel was priced, a bound raised or a plan found

  Incumbent<Kernel> incumbent_;
  double best_cost_ = infinity;  // of the best plan of this tree, read off or not
  bool plan_is_stale_ = false;
  std::vector<Choice> trail_;
  std::vector<Choice> best_trail_;
};

}  // namespace fuselage::search

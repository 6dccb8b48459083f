#include "node_shares.h"

#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fuselage/walk/run_table.h"
#include "group.h"
#include "id_list.h"

namespace fuselage::walk {
namespace {

constexpr std::size_t most_members = 4'000'000;  // of all kernels together
constexpr int block_nodes = 96;
constexpr double largest_plain_cost = 1e20;

// Every set of nodes that can be one kernel in some schedule (and a few that can't, for want of a place in
// time): one root, all others read a member.
class KernelSets {
 public:
  KernelSets(const Graph& graph, const Hardware& hardware, const RunTable& runs,
             const ProblemOptions& options)
      : graph_(graph),
        hardware_(hardware),
        runs_(runs),
        options_(options),
        most_nodes_(options.may_fuse ? std::max(1, hardware.max_fusion_depth) : 1),
        unit_(common_bytes(graph)),
        reload_(static_cast<std::size_t>(graph.size()), 0.0) {}

  // False if there are too many, or it takes too long.
  bool enumerate() {
    for (int at = 0; at < graph_.size(); ++at)
      if (!grow({at}, {})) return false;
    return true;
  }

  const std::vector<double>& reload() const { return reload_; }
  std::size_t size() const { return cost_.size(); }
  double cost(std::size_t k) const { return cost_[k]; }
  std::span<const int> members(std::size_t k) const {
    return std::span(members_).subspan(begin_[k], begin_[k + 1] - begin_[k]);
  }

 private:
  bool grow(const IdList& members, IdList excluded) {
    IdList sorted = members;
    std::sort(sorted.begin(), sorted.end());
    add(sorted);
    if (members_.size() > most_members) return false;
    if (work_ >= work_between_looks) {
      work_ = 0;
      if (options_.set_up.passed()) return false;
    }
    if (static_cast<int>(members.size()) >= most_nodes_) return true;
    IdList next;
    for (int at : sorted)
      for (NodeId c : graph_.consumers(graph_.order()[static_cast<std::size_t>(at)])) {
        const int position = graph_.position(c);
        if (!holds(sorted, position) && !holds(excluded, position) && !holds(next, position))
          next.push_back(position);
      }
    std::sort(next.begin(), next.end());
    for (int at : next) {
      IdList larger = members;
      larger.push_back(at);
      if (!grow(larger, excluded)) return false;
      excluded.push_back(at);
    }
    return true;
  }

  void add(const IdList& sorted) {
    const Group group = make_group(graph_, runs_, sorted);
    work_ += 1 + group.inputs.size();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < tiles.size(); ++t)
      if (!options_.only_tile || tiles[t] == *options_.only_tile)
        least = std::min(least, least_cost(group, t));
    if (least == std::numeric_limits<double>::infinity()) return;
    members_.insert(members_.end(), sorted.begin(), sorted.end());
    begin_.push_back(members_.size());
    cost_.push_back(least + hardware_.kernel_launch_cost + options_.price.launch);
    const double most = most_load_cost(
        graph_, hardware_, {.inputs = group.inputs, .outputs = group.outputs, .cycles = group.cycles}, unit_);
    for (NodeId x : group.inputs) {
      double& reload = reload_[static_cast<std::size_t>(x)];
      reload = std::max(reload, std::min(most, hardware_.transfer_cycles(graph_.bytes(x))));
    }
  }

  // Of the boundary as much stays in fast memory as the room beside the slices holds, most bytes for the room
  // first, the last one in part: no choice of residents moves less.
  double least_cost(const Group& group, std::size_t t) {
    double room = static_cast<double>(hardware_.fast_mem_capacity);
    double traffic = 0;  // bytes
    boundary_.clear();
    for (const IdList* ids : {&group.inputs, &group.outputs})
      for (NodeId x : *ids) {
        const auto bytes = static_cast<double>(graph_.bytes(x));
        const auto slice = static_cast<double>(slice_bytes(graph_.bytes(x), tiles[t]));
        room -= slice;
        traffic += bytes;
        if (options_.may_retain) boundary_.push_back({bytes, bytes - slice});
      }
    if (room < 0) return std::numeric_limits<double>::infinity();
    std::sort(boundary_.begin(), boundary_.end(),
              [](const Tensor& a, const Tensor& b) { return a.bytes * b.room > b.bytes * a.room; });
    for (const Tensor& x : boundary_) {
      const double part = x.room <= room ? 1.0 : room / x.room;
      traffic -= part * x.bytes;
      room -= part * x.room;
    }
    traffic = std::max(0.0, traffic);
    const double memory = hardware_.slow_mem_bandwidth > 0 ? traffic / hardware_.slow_mem_bandwidth : 0.0;
    return std::max(group.cycles[t], memory) + options_.price.traffic * traffic;
  }

  struct Tensor {
    double bytes;
    double room;  // beside its slice
  };

  const Graph& graph_;
  const Hardware& hardware_;
  const RunTable& runs_;
  const ProblemOptions& options_;
  int most_nodes_;
  std::int64_t unit_;
  std::vector<int> members_;
  std::vector<std::size_t> begin_ = {0};
  std::vector<double> cost_;
  std::vector<Tensor> boundary_;
  std::vector<double> reload_;
  static constexpr std::size_t work_between_looks = 1 << 12;  // kernels and their inputs
  std::size_t work_ = 0;
};

// Ends the solver when time is up.
class ClpDeadline : public ClpEventHandler {
 public:
  explicit ClpDeadline(const Deadline& deadline) : deadline_(deadline) {}
  int event(Event which) override {
    constexpr int go_on = -1;
    constexpr int stop = 5;  // any status from 0 on ends it
    return which == endOfIteration && ++iterations_ % 16 == 0 && deadline_.passed() ? stop : go_on;
  }
  ClpEventHandler* clone() const override { return new ClpDeadline(*this); }

 private:
  Deadline deadline_;
  int iterations_ = 0;
};

// One block: the nodes [first, last) get the dual prices of partitioning them, kernels costing what the
// shares of nodes outside leave of them.
class Block {
 public:
  Block(const KernelSets& sets, std::vector<double>& shares, int first, int last, const Deadline& deadline)
      : sets_(sets), shares_(shares), first_(first), last_(last), deadline_(deadline) {}

  // `kernels`: the sets with a member in the block.
  void solve(std::span<const std::size_t> kernels) {
    starts_ = {0};
    rows_.clear();
    cost_.clear();
    for (const std::size_t k : kernels) add_column(k);
    if (cost_.empty()) return;  // nothing fits
    // Clp aborts on costs of 1e25: larger ones are solved in a unit of their own, a power of two.
    const double largest = std::abs(*std::max_element(
        cost_.begin(), cost_.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const int exponent = largest < largest_plain_cost ? 0 : std::ilogb(largest);
    std::vector<double> scaled = cost_;
    for (double& cost : scaled) cost = std::scalbn(cost, -exponent);
    ClpSimplex lp;
    lp.setLogLevel(0);
    const ClpDeadline deadline(deadline_);
    lp.passInEventHandler(&deadline);
    const int nodes = last_ - first_;
    lp.resize(nodes, 0);
    for (int v = 0; v < nodes; ++v) lp.setRowBounds(v, 1.0, 1.0);
    const std::vector<double> ones(rows_.size(), 1.0);
    const std::vector<double> none(cost_.size(), 0.0);
    const std::vector<double> any(cost_.size(), COIN_DBL_MAX);
    lp.addColumns(static_cast<int>(cost_.size()), none.data(), any.data(), scaled.data(), starts_.data(),
                  rows_.data(), ones.data());
    lp.primal();
    if (!lp.isProvenOptimal()) return;  // no partition at all, or no time: the shares stay as they are
    std::vector<double> prices(lp.dualRowSolution(), lp.dualRowSolution() + nodes);
    for (double& price : prices) price = std::scalbn(price, exponent);
    take(prices);
  }

 private:
  bool inside(int v) const { return v >= first_ && v < last_; }

  void add_column(std::size_t k) {
    double left = sets_.cost(k);
    for (int v : sets_.members(k)) {
      if (inside(v))
        rows_.push_back(v - first_);
      else
        left -= shares_[static_cast<std::size_t>(v)];
    }
    starts_.push_back(static_cast<CoinBigIndex>(rows_.size()));
    cost_.push_back(left);
  }

  // The solver's prices may exceed a kernel's cost by its tolerance: as much is taken off every share.
  void take(const std::vector<double>& prices) {
    double excess = 0;
    for (std::size_t k = 0; k < cost_.size(); ++k) {
      double sum = 0;
      for (CoinBigIndex i = starts_[k]; i < starts_[k + 1]; ++i)
        sum += prices[static_cast<std::size_t>(rows_[static_cast<std::size_t>(i)])];
      excess = std::max(excess, sum - cost_[k]);
    }
    double before = 0;
    double after = 0;
    for (int v = first_; v < last_; ++v) {
      before += shares_[static_cast<std::size_t>(v)];
      after += prices[static_cast<std::size_t>(v - first_)] - excess;
    }
    if (after <= before) return;
    for (int v = first_; v < last_; ++v)
      shares_[static_cast<std::size_t>(v)] = prices[static_cast<std::size_t>(v - first_)] - excess;
  }

  const KernelSets& sets_;
  std::vector<double>& shares_;
  int first_;
  int last_;
  Deadline deadline_;
  std::vector<CoinBigIndex> starts_;
  std::vector<int> rows_;
  std::vector<double> cost_;
};

}  // namespace

NodeShares node_shares(const Graph& graph, const Hardware& hardware, const RunTable& runs,
                       const ProblemOptions& options) {
  NodeShares result;
  for (NodeId v : graph.order()) {
    const auto& cycles = runs.cycles(v);
    result.share.push_back(*std::min_element(cycles.begin(), cycles.end()));
  }
  KernelSets sets(graph, hardware, runs, options);
  if (!sets.enumerate()) {
    for (NodeId x = 0; x < graph.size(); ++x)
      result.reload.push_back(hardware.transfer_cycles(graph.bytes(x)));
    return result;
  }
  result.reload = sets.reload();
  const int blocks = (graph.size() + block_nodes - 1) / block_nodes;
  std::vector<std::vector<std::size_t>> of_block(static_cast<std::size_t>(blocks));
  for (std::size_t k = 0; k < sets.size(); ++k) {
    int last = -1;
    for (int v : sets.members(k)) {  // sorted
      if (v / block_nodes != last) of_block[static_cast<std::size_t>(v / block_nodes)].push_back(k);
      last = v / block_nodes;
    }
  }
  for (int b = 0; b < blocks && !options.set_up.passed(); ++b)
    Block(sets, result.share, b * block_nodes, std::min(graph.size(), (b + 1) * block_nodes), options.set_up)
        .solve(of_block[static_cast<std::size_t>(b)]);
  return result;
}

}  // namespace fuselage::walk

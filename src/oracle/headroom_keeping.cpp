#include "headroom_keeping.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "fuselage/walk/baseline.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::oracle {
namespace {

using Ids = std::vector<NodeId>;

bool holds(const Ids& ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

class KeepingWalk {
 public:
  KeepingWalk(const Workload& workload, Grouping grouping)
      : graph_(workload.graph),
        hardware_(workload.hardware),
        runs_(workload.graph, workload.hardware),
        reads_free_(grouping == Grouping::alone),
        most_kept_(reads_free_ ? std::numeric_limits<double>::infinity()
                               : 0.5 * static_cast<double>(hardware_.fast_mem_capacity)) {
    for (NodeId id = 0; id < graph_.size(); ++id) uses_.push_back(graph_.uses(id));
  }

  void close(const Ids& group) {
    if (!reads_free_) read(group);
    const Ids kept = worth_keeping(group);
    if (const auto latency = price(group, kept)) {
      total_ += *latency;
      resident_ = kept;
    } else {
      run_without(group);
      resident_.clear();
    }
    if (reads_free_) read(group);
  }
  double total() const { return total_; }

 private:
  void read(const Ids& group) {
    for (NodeId node : group)
      for (NodeId input : graph_.inputs(node)) --uses(input);
    std::erase_if(resident_, [&](NodeId id) { return uses(id) == 0; });
  }

  int& uses(NodeId id) { return uses_[static_cast<std::size_t>(id)]; }

  Ids worth_keeping(const Ids& group) {
    Ids kept;
    for (const Ids* ids : {&group, &std::as_const(resident_)})
      for (NodeId id : *ids)
        if (uses(id) > 0 && !holds(kept, id)) kept.push_back(id);
    double bytes = 0;
    for (NodeId id : kept) bytes += static_cast<double>(graph_.bytes(id));
    std::stable_sort(kept.begin(), kept.end(), [&](NodeId a, NodeId b) { return uses(a) < uses(b); });
    while (bytes > most_kept_) {
      bytes -= static_cast<double>(graph_.bytes(kept.front()));
      kept.erase(kept.begin());
    }
    return kept;
  }

  std::optional<double> price(const Ids& group, const Ids& kept) const {
    const walk::Run& run = runs_.run(graph_.position(group.front()), static_cast<int>(group.size()));
    const auto tile = static_cast<std::size_t>(walk::tile_index(walk::default_tile));
    std::int64_t load = 0;
    std::int64_t store = 0;
    std::int64_t working_set = run.slices[tile];
    for (NodeId id : runs_.inputs(run))
      if (!holds(resident_, id)) load += graph_.bytes(id);
    for (NodeId id : runs_.outputs(run))
      if (!holds(kept, id)) store += graph_.bytes(id);
    for (NodeId id : resident_)
      if (!holds(group, id)) working_set += graph_.bytes(id);
    for (NodeId id : kept)
      if (!holds(resident_, id)) working_set += graph_.bytes(id);
    if (working_set > hardware_.fast_mem_capacity) return std::nullopt;
    const double memory = hardware_.transfer_cycles(load) + hardware_.transfer_cycles(store);
    return std::max(run.cycles[tile], memory) + hardware_.kernel_launch_cost;
  }

  void run_without(const Ids& group) {
    if (const auto latency = price(group, {})) {
      total_ += *latency;
      return;
    }
    for (NodeId node : group) total_ += price({node}, {}).value_or(walk::oom_penalty);
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const walk::RunTable runs_;
  bool reads_free_;
  double most_kept_;       // bytes
  std::vector<int> uses_;  // by node: reads to come
  Ids resident_;
  double total_ = 0;
};

}  // namespace

double keeping_latency(const Workload& workload, Grouping grouping) {
  KeepingWalk walk(workload, grouping);
  if (grouping == Grouping::alone) {
    for (NodeId node : workload.graph.order()) walk.close({node});
  } else {
    for (const walk::PlanKernel& group : walk::greedy_groups(workload.graph, workload.hardware))
      walk.close(group.nodes);
  }
  return walk.total();
}

std::optional<double> latency_alone(const Workload& workload, NodeId node, int tile) {
  const walk::RunTable runs(workload.graph, workload.hardware);
  const walk::Run& run = runs.run(workload.graph.position(node), 1);
  const auto index = static_cast<std::size_t>(walk::tile_index(tile));
  if (run.slices[index] > workload.hardware.fast_mem_capacity) return std::nullopt;
  const double memory = workload.hardware.transfer_cycles(run.input_bytes) +
                        workload.hardware.transfer_cycles(run.output_bytes);
  return std::max(run.cycles[index], memory) + workload.hardware.kernel_launch_cost;
}

}  // namespace fuselage::oracle

// Data for a learned model from a workload: schedules of all sorts, as rows of features, with what they cost
// as targets. What a schedule costs comes from `simulate`, which shares no code with features or search.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/learn/trajectory_file.h"
#include "fuselage/walk/episode.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

// mixed: the environment's generator, mixed topology, any difficulty. See walk/memory_bound.h for the other.
enum class GraphKind : std::uint8_t { mixed, memory_bound };
inline constexpr std::array<std::string_view, 2> graph_kind_names = {"mixed", "memory-bound"};
constexpr std::string_view name(GraphKind kind) {
  return graph_kind_names[static_cast<std::size_t>(kind)];
}

struct DrawOptions {
  GraphKind kind = GraphKind::mixed;
  int min_ops = 8;
  int max_ops = 32;
};
// Size, shape (128, 256 or 512 a side) and machine are drawn too. The same seed, the same workload, whose
// name has the seed in it.
Workload draw_workload(const DrawOptions& options, std::uint64_t seed);

// Of ops, shapes, costs, bytes and edges in the order that a schedule visits, so that neither the numbering
// of the nodes nor the machine counts: a graph and the same one on another machine are in one split.
std::string graph_hash(const Graph& graph);

struct TrajectoryOptions {
  int schedules = 48;  // at least 2; fewer where the workload doesn't have as many that differ
  std::uint64_t seed = 0;
  bool regret = false;  // exact, so it takes most of the time
};

// Under `seed_honest`, the best plan found first, then mutations of it, epsilon-heuristic and random ones,
// none twice. The rows follow the schemas of walk/features.h. None if there aren't two schedules that run
// without falling back.
std::optional<learn::TrajectoryGroup> trajectories(const Workload& workload,
                                                   const TrajectoryOptions& options);

// The same with the plans themselves, to do something else to them.
struct DrawnSchedules {
  learn::TrajectoryGroup group = {};
  std::vector<walk::Plan> plans = {};  // by schedule
};
std::optional<DrawnSchedules> draw_schedules(const Workload& workload, const TrajectoryOptions& options);

// One plan as rows and costs, under `seed_honest`; its sampler and regret are not set. None for a plan in
// which a kernel falls back to its members: it has no prefix costs. Error for a plan that isn't legal.
std::optional<learn::Trajectory> trajectory_of(const walk::EpisodeContext& context, const walk::Plan& plan);

learn::TrajectorySchemas walk_schemas();

}  // namespace fuselage::oracle

// The game of the public environment, one node a step: what an agent does, sees and is paid for, under `seed`
// bit for bit and under `seed_honest` with the same accounting. An Episode is a plain value: copy it to look
// ahead. Stepping allocates nothing once its vectors have grown, and observations are only made when asked
// for, so that search and training can step millions of times a second.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuselage/walk/plan.h"
#include "fuselage/walk/rules.h"
#include "fuselage/walk/run_table.h"

namespace fuselage::walk {

// What all episodes of one workload share. Keeps its own copy of the workload.
class EpisodeContext {
 public:
  explicit EpisodeContext(Workload workload);

  const Graph& graph() const { return workload_.graph; }
  const Hardware& hardware() const { return workload_.hardware; }
  const RunTable& runs() const { return runs_; }
  double greedy_latency() const { return greedy_latency_; }
  double naive_latency() const { return naive_latency_; }

  // JSON text that observations are pasted from, made once: `"7":` keys, node infos, lookahead entries, and
  // the node list of step 0.
  struct Text {
    std::vector<std::string> use_key;    // by node: "\"7\":"
    std::vector<std::string> node_info;  // by node: {id,op,shape,inputs,output_bytes}
    std::vector<std::string> brief;      // by node: {id,op,inputs}
    std::string nodes;                   // the list of step 0
    std::string greedy_baseline;
  };
  const Text& text() const { return text_; }

 private:
  Workload workload_;
  RunTable runs_;
  double greedy_latency_ = 0;
  double naive_latency_ = 0;
  Text text_;
};

// The message of the last step only.
struct StepError {
  enum class Kind : std::uint8_t { none, not_connected, too_deep, oom };
  Kind kind = Kind::none;
  std::int64_t working_set = 0;  // bytes, for oom

  friend bool operator==(const StepError&, const StepError&) = default;
};
std::string to_string(const StepError& error, const Hardware& hardware);

struct StepResult {
  double reward = 0;
  bool done = false;
};

struct EpisodeOptions {
  Rules rules = Rules::seed;  // seed or seed_honest
  int max_steps = 0;          // 0: one step per node, as the fixed tasks have it
  int lookahead = 2;          // nodes after the current one that an observation shows; the environment's is 2
};

// An action whose retain list lives elsewhere, so that stepping copies nothing it does not keep.
struct ActionView {
  bool fuse_with_prev = false;
  int tile = default_tile;
  std::span<const NodeId> retain;

  ActionView() = default;
  ActionView(bool fuse, int tile_size, std::span<const NodeId> retain_ids)
      : fuse_with_prev(fuse), tile(tile_size), retain(retain_ids) {}
  ActionView(const Action& action)
      : ActionView(action.fuse_with_prev, action.tile, action.retain) {
  }  // NOLINT(google-explicit-constructor)
};

// The group that is being built: `count` nodes from position `first`; count 0 when none is open.
struct OpenGroup {
  int first = 0;
  int count = 0;
  int tile = default_tile;
  std::vector<NodeId> retain;
};

class Episode {
 public:
  // The context must outlive the episode. Throws Error for `physical`, which has no episodes.
  explicit Episode(const EpisodeContext& context, const EpisodeOptions& options = {});
  void reset();

  // A tile outside {32,64,128,256} becomes 128; retain ids outside the graph are dropped, and under
  // seed_honest those that the step may not retain (see dropped()). After the end: reward 0, done.
  StepResult step(const ActionView& action);
  // Closes the open group, if there is one, as the next step does that doesn't fuse; no step is counted. For
  // looking ahead: total_latency() then has the group's cost, resident() what the next group finds.
  void close_group() { finalise(); }

  bool done() const { return done_; }
  int steps() const { return steps_; }
  int position() const { return position_; }
  NodeId current_node() const;  // -1 at the end
  const OpenGroup& group() const { return group_; }
  std::span<const NodeId> group_nodes() const;
  std::vector<NodeId> fast_mem() const;                           // sorted
  std::span<const NodeId> resident() const { return resident_; }  // the same, unsorted
  bool is_resident(NodeId id) const { return in_fast_[static_cast<std::size_t>(id)] != 0; }
  int remaining_uses(NodeId id) const { return remaining_[static_cast<std::size_t>(id)]; }
  std::int64_t fast_mem_used() const { return fast_mem_used_; }
  double total_latency() const { return total_latency_; }
  int kernel_launches() const { return launches_; }
  int reloads() const { return reloads_; }
  int overflows() const { return overflows_; }  // groups that closed with more than fast memory holds
  const StepError& error() const { return error_; }
  std::span<const NodeId> dropped() const {
    return dropped_;
  }  // honest only: entries refused by the last step
  Rules rules() const { return options_.rules; }
  int max_steps() const { return options_.max_steps; }
  const EpisodeContext& context() const { return *context_; }

  // (greedy - total) / greedy, and the environment's score: improvement / 0.2 within [-1, 1].
  double improvement() const;
  double score() const;

  // Appends the environment's text for the present state.
  void observe(std::string& out) const;
  std::string observation() const;

 private:
  struct GroupCheck {
    bool fits = false;
    std::int64_t working_set = 0;
  };
  GroupCheck check(const Run& run, int tile, std::span<const NodeId> retain) const;
  bool try_fuse(int tile, std::span<const NodeId> retain, double& reward);
  void keep_legal(std::span<const NodeId> retain, const Run& group, bool record);
  void start_group(int tile, std::span<const NodeId> retain);
  void finalise();
  void finalise_invalid();
  double priced(const Run& run, int tile, std::span<const NodeId> retain) const;
  void consume_inputs(NodeId node);
  void leave(NodeId id);

  const EpisodeContext* context_;
  EpisodeOptions options_;
  int position_ = 0;
  int steps_ = 0;
  OpenGroup group_;
  std::vector<NodeId> resident_;
  std::vector<std::uint8_t> in_fast_;  // by node
  std::int64_t resident_bytes_ = 0;    // of resident_; fast_mem_used_ lags behind it, as the rules have it
  std::int64_t fast_mem_used_ = 0;
  std::vector<int> remaining_;  // by node: uses left
  double total_latency_ = 0;
  int launches_ = 0;
  int reloads_ = 0;
  int overflows_ = 0;
  bool done_ = false;
  StepError error_;
  std::vector<NodeId> clean_;  // scratch: the sanitised retain list of this step
  std::vector<NodeId> legal_;  // scratch: what seed_honest leaves of it
  std::vector<NodeId> dropped_;
};

// Steps every episode by its action; no observation is made. Spans of equal length.
void step_batch(std::span<Episode> episodes, std::span<const ActionView> actions,
                std::span<StepResult> results);

// Appends a latency as Python's round(x, 1) and repr print it.
void append_rounded(std::string& out, double value);

}  // namespace fuselage::walk

#include "fuselage/walk/episode.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "fuselage/core/error.h"

namespace fuselage::walk {

Episode::Episode(const EpisodeContext& context, const EpisodeOptions& options)
    : context_(&context), options_(options) {
  if (options.rules == Rules::physical) fail("rules: physical has no episodes; expected seed or seed-honest");
  if (options.max_steps < 0)
    fail("max_steps: {} is negative; expected 0 (one step a node) or more", options.max_steps);
  if (options_.max_steps == 0) options_.max_steps = context.graph().size();
  reset();
}

void Episode::reset() {
  const auto n = static_cast<std::size_t>(context_->graph().size());
  position_ = steps_ = launches_ = reloads_ = overflows_ = 0;
  group_.count = 0;
  group_.tile = default_tile;
  group_.retain.clear();
  resident_.clear();
  in_fast_.assign(n, 0);
  remaining_.resize(n);
  for (std::size_t i = 0; i < n; ++i) remaining_[i] = context_->graph().uses(static_cast<NodeId>(i));
  resident_bytes_ = fast_mem_used_ = 0;
  total_latency_ = 0;
  done_ = false;
  error_ = {};
  dropped_.clear();
}

NodeId Episode::current_node() const {
  return position_ < context_->graph().size() ? context_->graph().order()[static_cast<std::size_t>(position_)]
                                              : -1;
}

std::span<const NodeId> Episode::group_nodes() const {
  return context_->graph().order().subspan(static_cast<std::size_t>(group_.first),
                                           static_cast<std::size_t>(group_.count));
}

std::vector<NodeId> Episode::fast_mem() const {
  std::vector<NodeId> sorted = resident_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double Episode::improvement() const {
  const double base = context_->greedy_latency();
  if (base <= 0) return total_latency_ > 0 ? -1 : 0;
  return std::max((base - total_latency_) / base, std::numeric_limits<double>::lowest());
}

double Episode::score() const {
  if (total_latency_ <= 0) return 0;
  return std::max(-1.0, std::min(1.0, improvement() / 0.2));
}

// Working set of a run under the present residents. Entries of `retain` count once each, duplicates too; a
// sum that nobody's capacity reaches stops growing.
Episode::GroupCheck Episode::check(const Run& run, int tile, std::span<const NodeId> retain) const {
  const Graph& graph = context_->graph();
  std::int64_t bytes = run.slices[static_cast<std::size_t>(tile_index(tile))] + resident_bytes_;
  for (NodeId x : resident_) {
    const bool inside =
        static_cast<unsigned>(graph.position(x) - run.first) < static_cast<unsigned>(run.count);
    bytes -= inside ? graph.bytes(x) : 0;
  }
  for (NodeId x : retain)
    if (__builtin_add_overflow(bytes, is_resident(x) ? 0 : graph.bytes(x), &bytes))
      return {.working_set = std::numeric_limits<std::int64_t>::max()};
  return {.fits = bytes <= context_->hardware().fast_mem_capacity, .working_set = bytes};
}

double Episode::priced(const Run& run, int tile, std::span<const NodeId> retain) const {
  const Graph& graph = context_->graph();
  const RunTable& runs = context_->runs();
  std::int64_t load = run.input_bytes;
  if (!resident_.empty())
    for (NodeId x : runs.inputs(run)) load -= is_resident(x) ? graph.bytes(x) : 0;
  std::int64_t store = run.output_bytes;
  if (!retain.empty())
    for (NodeId x : runs.outputs(run))
      if (std::find(retain.begin(), retain.end(), x) != retain.end()) store -= graph.bytes(x);
  const Hardware& hardware = context_->hardware();
  const double memory = hardware.transfer_cycles(load) + hardware.transfer_cycles(store);
  return std::max(run.cycles[static_cast<std::size_t>(tile_index(tile))], memory) +
         hardware.kernel_launch_cost;
}

// What seed_honest lets a step retain: the group after the step, its inputs, and what is resident.
void Episode::keep_legal(std::span<const NodeId> retain, const Run& group, bool record) {
  const Graph& graph = context_->graph();
  const auto members =
      graph.order().subspan(static_cast<std::size_t>(group.first), static_cast<std::size_t>(group.count));
  const auto inputs = context_->runs().inputs(group);
  legal_.clear();
  for (NodeId x : retain) {
    const bool legal = is_resident(x) || std::find(members.begin(), members.end(), x) != members.end() ||
                       std::find(inputs.begin(), inputs.end(), x) != inputs.end();
    if (legal)
      legal_.push_back(x);
    else if (record)
      dropped_.push_back(x);
  }
}

// Extends the open group by the current node if the rules let it; else says why not in error_ and the reward.
bool Episode::try_fuse(int tile, std::span<const NodeId> retain, double& reward) {
  const RunTable& runs = context_->runs();
  const auto inputs = context_->graph().inputs(current_node());
  const bool connected = std::any_of(inputs.begin(), inputs.end(),
                                     [&](NodeId x) { return context_->graph().position(x) >= group_.first; });
  if (!connected || group_.count + 1 > context_->hardware().max_fusion_depth) {
    error_.kind = connected ? StepError::Kind::too_deep : StepError::Kind::not_connected;
    reward += -0.005;
    return false;
  }
  const Run& fused = runs.run(group_.first, group_.count + 1);
  if (options_.rules == Rules::seed_honest) {
    keep_legal(retain, fused, false);
    retain = legal_;
  }
  const GroupCheck result = check(fused, tile, retain);
  if (!result.fits) {
    error_ = {.kind = StepError::Kind::oom, .working_set = result.working_set};
    reward += -0.01;
    return false;
  }
  ++group_.count;
  group_.tile = tile;
  group_.retain.assign(retain.begin(), retain.end());
  reward += 0.02;
  return true;
}

void Episode::start_group(int tile, std::span<const NodeId> retain) {
  group_.first = position_;
  group_.count = 1;
  group_.tile = tile;
  group_.retain.assign(retain.begin(), retain.end());
}

void Episode::leave(NodeId id) {
  in_fast_[static_cast<std::size_t>(id)] = 0;
  resident_bytes_ -= context_->graph().bytes(id);
  resident_.erase(std::find(resident_.begin(), resident_.end(), id));
}

void Episode::consume_inputs(NodeId node) {
  for (NodeId x : context_->graph().inputs(node))
    if (--remaining_[static_cast<std::size_t>(x)] <= 0 && is_resident(x)) leave(x);
}

void Episode::finalise() {
  if (group_.count == 0) return;
  const Run& run = context_->runs().run(group_.first, group_.count);
  if (!check(run, group_.tile, group_.retain).fits) {
    finalise_invalid();
    group_.count = 0;
    return;
  }
  total_latency_ += priced(run, group_.tile, group_.retain);
  ++launches_;
  if (!resident_.empty() || !group_.retain.empty()) {
    // Residents without uses left stay only if the group retains them again.
    std::size_t kept = 0;
    for (NodeId x : resident_) {
      const bool stays = remaining_uses(x) > 0;
      in_fast_[static_cast<std::size_t>(x)] = stays;
      resident_[kept] = x;
      kept += stays;
    }
    resident_.resize(kept);
    for (NodeId x : group_.retain) {
      if (is_resident(x)) continue;
      in_fast_[static_cast<std::size_t>(x)] = 1;
      resident_.push_back(x);
    }
    resident_bytes_ = 0;
    for (NodeId x : resident_) resident_bytes_ += context_->graph().bytes(x);
  }
  fast_mem_used_ = resident_bytes_;
  group_.count = 0;
}

void Episode::finalise_invalid() {
  ++overflows_;
  for (int at = group_.first; at < group_.first + group_.count; ++at) {
    const Run& alone = context_->runs().run(at, 1);
    const bool fits = check(alone, default_tile, {}).fits;
    total_latency_ += fits ? priced(alone, default_tile, {}) : oom_penalty;
    ++launches_;
  }
}

StepResult Episode::step(const ActionView& action) {
  if (done_) return {.reward = 0, .done = true};
  error_ = {};
  dropped_.clear();
  const NodeId node = current_node();
  const int tile = tile_index(action.tile) < 0 ? default_tile : action.tile;
  clean_.resize(action.retain.size());
  std::size_t kept = 0;
  for (NodeId x : action.retain) {
    clean_[kept] = x;
    kept += x >= 0 && x < context_->graph().size();
  }
  clean_.resize(kept);

  double reward = 0;
  if (!(action.fuse_with_prev && group_.count > 0 && try_fuse(tile, clean_, reward))) {
    finalise();
    std::span<const NodeId> retain = clean_;
    if (options_.rules == Rules::seed_honest) {
      keep_legal(clean_, context_->runs().run(position_, 1), true);
      retain = legal_;
    }
    start_group(tile, retain);
  } else if (options_.rules == Rules::seed_honest) {
    keep_legal(clean_, context_->runs().run(group_.first, group_.count), true);
  }
  consume_inputs(node);
  for (NodeId x : group_.retain) reward += remaining_uses(x) > 0 ? 0.01 : -0.01;
  for (NodeId x : context_->graph().inputs(node)) {
    if (is_resident(x)) continue;
    ++reloads_;
    reward += -0.005;
  }
  ++position_;
  ++steps_;
  if (position_ >= context_->graph().size() || steps_ >= options_.max_steps) {
    finalise();
    done_ = true;
    const double gain = improvement();
    if (gain > 0) reward += 0.5 * gain;
    if (gain < 0) reward += 0.1 * gain;
  }
  return {.reward = reward, .done = done_};
}

void step_batch(std::span<Episode> episodes, std::span<const ActionView> actions,
                std::span<StepResult> results) {
  assert(episodes.size() == actions.size() && episodes.size() == results.size());
  for (std::size_t i = 0; i < episodes.size(); ++i) results[i] = episodes[i].step(actions[i]);
}

}  // namespace fuselage::walk

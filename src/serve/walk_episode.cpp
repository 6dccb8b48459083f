#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <span>
#include <vector>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"
#include "fuselage/oracle/graph_values.h"
#include "fuselage/serve/live_episode.h"
#include "fuselage/walk/answer.h"
#include "json_parts.h"

namespace fuselage::serve {
namespace {

using walk::Episode;

template <class Integer>
void append_integer(std::string& out, Integer value) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

constexpr std::uint64_t most_hint_bytes = std::uint64_t{64} << 20;  // of a search's states

// A kernel that is closed.
struct Closed {
  int first = 0;
  int count = 0;
  int tile = 0;
  std::vector<NodeId> retained;
  double latency = 0;
};

class WalkLive : public LiveEpisode {
 public:
  WalkLive(std::shared_ptr<const walk::EpisodeContext> context, const WalkEpisodeOptions& options)
      : context_(std::move(context)), options_(options), episode_(*context_, options.rules) {}
  // The value function is not shared: it is made anew when the clone is asked for a hint.
  WalkLive(const WalkLive& other)
      : context_(other.context_),
        options_(other.options_),
        episode_(other.episode_),
        closed_(other.closed_),
        after_end_(other.after_end_) {}
  WalkLive& operator=(const WalkLive&) = delete;

  std::string_view family() const override { return "walk"; }

  StepReply step(std::string_view command) override {
    const std::optional<walk::Action> action = walk::parse_answer(command);
    if (!action) return {.reward = walk::parse_error_reward, .done = episode_.done(), .read = false};
    after_end_ = episode_.done();
    const walk::OpenGroup before = episode_.group();
    const double spent = episode_.total_latency();
    const double closing = is_last_step() ? cost_of_closing() : 0;
    const walk::StepResult result = episode_.step(*action);
    if (!after_end_)
      note_closed(before, {.total = episode_.total_latency() - spent, .first = closing}, *action);
    double reward = result.reward;
    if (options_.retention_cost > 0 && !after_end_)
      reward -= options_.retention_cost * static_cast<double>(episode_.fast_mem_used()) /
                static_cast<double>(context_->hardware().fast_mem_capacity);
    return {.reward = reward, .done = result.done};
  }

  void append_observation(std::string& out) const override { episode_.observe(out); }

  void append_info(std::string& out) const override {
    if (after_end_) {
      out += "{}";
      return;
    }
    out += R"({"total_latency":)";
    append_json_number(out, episode_.total_latency());
    out += R"(,"greedy_latency":)";
    append_json_number(out, context_->greedy_latency());
    out += R"(,"kernel_launches":)";
    append_integer(out, episode_.kernel_launches());
    out += R"(,"reloads":)";
    append_integer(out, episode_.reloads());
    out += R"(,"error":)";
    if (episode_.error().kind == walk::StepError::Kind::none)
      out += "null";
    else
      append_json_string(out, to_string(episode_.error(), context_->hardware()));
    if (!episode_.dropped().empty()) {
      out += R"(,"dropped":)";
      append_ids(out, episode_.dropped());
    }
    out += '}';
  }

  void append_state(std::string& out) const override {
    out += R"("step":)";
    append_integer(out, episode_.steps());
    out += R"(,"current_node_idx":)";
    append_integer(out, episode_.position());
    out += R"(,"total_latency":)";
    append_json_number(out, episode_.total_latency());
    out += R"(,"greedy_latency":)";
    append_json_number(out, context_->greedy_latency());
    out += R"(,"naive_latency":)";
    append_json_number(out, context_->naive_latency());
    out += R"(,"kernel_launches":)";
    append_integer(out, episode_.kernel_launches());
    out += R"(,"reloads":)";
    append_integer(out, episode_.reloads());
    out += R"(,"fast_mem_contents":)";
    append_ids(out, episode_.fast_mem());
    out += R"(,"fast_mem_used":)";
    append_integer(out, episode_.fast_mem_used());
    out += R"(,"fusion_groups":[)";
    for (std::size_t i = 0; i < closed_.size(); ++i) append_closed(out, closed_[i], i == 0);
    out += R"(],"score":)";
    append_json_number(out, score());
  }

  void append_hint(std::string& out) override {
    if (context_->graph().size() > most_hint_ops)
      fail("hint: the graph has {} nodes; expected at most {}", context_->graph().size(), most_hint_ops);
    if (!values_) {
      Budget budget;
      budget.steps = options_.hint_steps;
      budget.bytes = most_hint_bytes;
      values_ = std::make_unique<oracle::GraphValues>(*context_, episode_.rules(), budget);
      start_ = std::make_unique<Episode>(*context_, options_.rules);
    }
    values_->answer_until(std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(options_.hint_seconds)));
    const oracle::StateLabels labels = values_->labels(episode_);
    double best = labels.value.cycles;
    bool proven = labels.value.proven;
    for (const auto& [action, q] : labels.actions) {
      best = std::min(best, q.cycles);
      proven = proven && q.proven;
    }
    const double optimum = values_->value(*start_).cycles;
    out += R"("value_to_go":)";
    append_json_number(out, best);
    out += R"(,"optimum":)";
    append_json_number(out, optimum);
    out += R"(,"regret":)";
    const double regret = episode_.total_latency() + best - optimum;
    append_json_number(out, regret > same_cost * optimum ? regret : 0);
    out += proven ? R"(,"proven":true,"optimal":[)" : R"(,"proven":false,"optimal":[)";
    bool first = true;
    for (const auto& [action, q] : labels.actions) {
      if (q.cycles - best > same_cost * optimum) continue;
      if (!first) out += ',';
      first = false;
      walk::append_answer(out, action);
    }
    out += R"(],"actions":[)";
    for (std::size_t i = 0; i < labels.actions.size(); ++i) {
      if (i > 0) out += ',';
      out += R"({"action":)";
      walk::append_answer(out, labels.actions[i].action);
      out += R"(,"q":)";
      append_json_number(out, labels.actions[i].value.cycles);
      out += '}';
    }
    out += ']';
  }

  int steps() const override { return episode_.steps(); }
  bool done() const override { return episode_.done(); }
  double score() const override { return episode_.score(); }
  std::unique_ptr<LiveEpisode> clone() const override { return std::make_unique<WalkLive>(*this); }

 private:
  bool is_last_step() const {
    return !episode_.done() && (episode_.position() + 1 == context_->graph().size() ||
                                episode_.steps() + 1 == episode_.max_steps());
  }
  double cost_of_closing() const {
    Episode ending = episode_;
    ending.close_group();
    return ending.total_latency() - episode_.total_latency();
  }

  struct Paid {
    double total = 0;  // by the step
    double first = 0;  // of it, if it is the last step and doesn't fuse: for the kernel that was open
  };
  // The kernels that a step closed: the one that was open before it, and at the end its own as well.
  void note_closed(const walk::OpenGroup& before, const Paid& paid, const walk::Action& action) {
    if (!episode_.done()) {
      if (before.count > 0 && episode_.group().first != before.first)
        closed_.push_back({before.first, before.count, before.tile, before.retain, paid.total});
      return;
    }
    const int last = episode_.position() - 1;
    const bool fused =
        before.count > 0 && action.fuse_with_prev && episode_.error().kind == walk::StepError::Kind::none;
    if (fused) {
      closed_.push_back({before.first, last - before.first + 1, tile_of(action), action.retain, paid.total});
      return;
    }
    if (before.count > 0)
      closed_.push_back({before.first, before.count, before.tile, before.retain, paid.first});
    closed_.push_back({last, 1, tile_of(action), action.retain, paid.total - paid.first});
  }
  static int tile_of(const walk::Action& action) {
    return walk::tile_index(action.tile) < 0 ? walk::default_tile : action.tile;
  }

  void append_closed(std::string& out, const Closed& group, bool first) const {
    if (!first) out += ',';
    out += R"({"node_ids":)";
    append_ids(out, context_->graph().order().subspan(static_cast<std::size_t>(group.first),
                                                      static_cast<std::size_t>(group.count)));
    out += R"(,"tile":)";
    append_integer(out, group.tile);
    out += R"(,"retained":)";
    append_ids(out, group.retained);
    out += R"(,"latency":)";
    append_json_number(out, group.latency);
    out += '}';
  }

  std::shared_ptr<const walk::EpisodeContext> context_;
  WalkEpisodeOptions options_;
  Episode episode_;
  std::vector<Closed> closed_;
  bool after_end_ = false;
  std::unique_ptr<oracle::GraphValues> values_;  // of the first hint on
  std::unique_ptr<Episode> start_;
};

}  // namespace

std::unique_ptr<LiveEpisode> live_episode(std::shared_ptr<const walk::EpisodeContext> context,
                                          const WalkEpisodeOptions& options) {
  return std::make_unique<WalkLive>(std::move(context), options);
}

}  // namespace fuselage::serve

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "fuselage/core/error.h"
#include "fuselage/core/json_append.h"
#include "fuselage/grid/episode.h"
#include "fuselage/oracle/grid_hint.h"
#include "fuselage/serve/live_episode.h"
#include "json_parts.h"

namespace fuselage::serve {
namespace {

class GridLive : public LiveEpisode {
 public:
  GridLive(std::shared_ptr<const grid::Instance> instance, const GridEpisodeOptions& options)
      : instance_(std::move(instance)),
        options_(options),
        episode_(*instance_, {.rules = options.rules,
                              .max_steps = options.max_steps,
                              .allow_recomputation = options.allow_recomputation}) {}

  // The table of completions is not shared: it is made anew when the clone is asked for a hint.
  GridLive(const GridLive& other)
      : instance_(other.instance_),
        options_(other.options_),
        episode_(other.episode_),
        last_(other.last_),
        after_end_(other.after_end_) {}
  GridLive& operator=(const GridLive&) = delete;

  std::string_view family() const override { return "grid"; }

  StepReply step(std::string_view command) override {
    after_end_ = episode_.done();
    last_ = episode_.step(command);
    const bool read = !last_.error || last_.error->fault != grid::StepFault::parse;
    return {.reward = last_.reward, .done = last_.done, .read = read};
  }

  void append_observation(std::string& out) const override { out += episode_.observation(); }

  void append_info(std::string& out) const override {
    if (after_end_) {
      out += "{}";
      return;
    }
    out += R"({"total_latency":)";
    append_json_number(out, episode_.total_latency());
    out += R"(,"naive_latency":)";
    append_json_number(out, episode_.naive_latency());
    out += R"(,"error":)";
    if (last_.error)
      append_json_string(out, last_.error->message);
    else
      out += "null";
    out += R"(,"error_class":)";
    if (last_.error)
      append_json_string(out, grid::step_error_class_name(grid::step_error_class(last_.error->fault)));
    else
      out += "null";
    out += R"(,"latency":)";
    append_json_number(out, last_.cost ? last_.cost->latency : 0);
    out += '}';
  }

  void append_state(std::string& out) const override {
    fmt::format_to(std::back_inserter(out), R"("step":{},"max_steps":{},"covered_ops":)", episode_.steps(),
                   episode_.options().max_steps);
    append_ids(out, episode_.covered());
    out += R"(,"ready_ops":)";
    append_ids(out, episode_.ready());
    out += R"(,"total_latency":)";
    append_json_number(out, episode_.total_latency());
    out += R"(,"naive_latency":)";
    append_json_number(out, episode_.naive_latency());
    out += R"(,"fast_memory":)";
    append_ids(out, episode_.fast_memory());
    fmt::format_to(std::back_inserter(out), R"(,"fast_memory_used":{},"return":)",
                   episode_.fast_memory_used());
    append_json_number(out, episode_.return_sum());
    out += R"(,"schedule":[)";
    bool first = true;
    for (const grid::Kernel& kernel : episode_.plan().kernels) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, grid::step_text(kernel));
    }
    out += R"(],"score":)";
    append_json_number(out, score());
  }

  void append_hint(std::string& out) override {
    if (instance_->op_count() > most_hint_ops)
      fail("hint: the problem has {} ops; expected at most {}", instance_->op_count(), most_hint_ops);
    if (episode_.done()) fail("hint: the episode is over; expected one that goes on");
    if (!hints_)
      hints_ = std::make_unique<oracle::GridHints>(*instance_, grid::Rules{.set = options_.rules},
                                                   options_.hint_steps);
    const oracle::GridHint hint = hints_->after(episode_.plan());
    out += R"("value_to_go":)";
    append_json_number(out, hint.value.cycles);
    out += R"(,"lower_bound":)";
    append_json_number(out, hint.value.lower_bound);
    out += R"(,"optimum":)";
    append_json_number(out, hint.optimum);
    out += R"(,"regret":)";
    append_json_number(out, std::max(0.0, episode_.total_latency() + hint.value.cycles - hint.optimum));
    out += hint.value.proven ? R"(,"proven":true,"optimal":[)" : R"(,"proven":false,"optimal":[)";
    bool first = true;
    for (const oracle::LabelledAnswer& answer : hint.answers) {
      if (!answer.optimal) continue;
      if (!first) out += ',';
      first = false;
      append_json_string(out, answer.text);
    }
    out += R"(],"actions":[)";
    first = true;
    for (const oracle::LabelledAnswer& answer : hint.answers) {
      out += first ? R"({"action":)" : R"(,{"action":)";
      first = false;
      append_json_string(out, answer.text);
      out += R"(,"q":)";
      append_json_number(out, answer.q.cycles);
      out += '}';
    }
    out += ']';
  }

  int steps() const override { return episode_.steps(); }
  bool done() const override { return episode_.done(); }
  double score() const override { return episode_.score(); }
  std::unique_ptr<LiveEpisode> clone() const override { return std::make_unique<GridLive>(*this); }

 private:
  std::shared_ptr<const grid::Instance> instance_;
  GridEpisodeOptions options_;
  grid::Episode episode_;
  grid::StepResult last_;
  bool after_end_ = false;
  std::unique_ptr<oracle::GridHints> hints_;  // of the first hint on
};

}  // namespace

std::unique_ptr<LiveEpisode> live_episode(std::shared_ptr<const grid::Instance> instance,
                                          const GridEpisodeOptions& options) {
  return std::make_unique<GridLive>(std::move(instance), options);
}

}  // namespace fuselage::serve

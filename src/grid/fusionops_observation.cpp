// What an agent reads, one section a subject.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fuselage/grid/episode.h"
#include "fusionops_examples.h"

namespace fuselage::grid {
namespace {

template <class Ids>
std::string list_text(const Ids& ids) {
  return fmt::format("[{}]", fmt::join(ids, ","));
}

// Time units, as exact as an agent needs them.
std::string time_text(double time) {
  return fmt::format("{:.10g}", time);
}

double percent(double part, double whole) {
  return 100 * part / whole;
}

// What to do about an error.
std::string hint_for(const Episode& episode, StepFault fault, const Kernel& action) {
  const Instance& instance = episode.instance();
  const auto ready = [&] { return list_text(episode.ready()); };
  switch (fault) {
    case StepFault::parse:
      return "write one line in the format at the end; ops needs integers between brackets";
    case StepFault::unknown_op:
      return fmt::format("ops are numbered from 0 to {}; ready are {}", instance.op_count() - 1, ready());
    case StepFault::already_scheduled:
      return fmt::format("no op may run twice here; ready are {}", ready());
    case StepFault::duplicate_op:
      return "name each op once";
    case StepFault::dependency:
      return fmt::format("run that op first, or add it to the step; ready are {}", ready());
    case StepFault::not_stored:
      return "let the op that makes the tensor run again, in this step or before it, and store or retain the "
             "tensor there";
    case StepFault::connectivity:
      return "every op of a step must read from or make for another op of the step; run the parts one by one";
    case StepFault::dimensions:
      return "w, h and k must be at least 1";
    case StepFault::retention: {
      std::vector<TensorId> made;
      for (const OpId id : action.ops)
        made.insert(made.end(), instance.op(id).outputs.begin(), instance.op(id).outputs.end());
      return fmt::format("these ops make {}", list_text(made));
    }
    case StepFault::memory:
      if (const auto fits = fusionops_parts::fitting(episode, action.ops, action.retain))
        return fmt::format("config=[{},{},{}] fits for these ops", fits->w, fits->h, fits->k);
      return "these ops fit with no config that was tried; take fewer ops, and retain less before them";
    case StepFault::traversal_length:
    case StepFault::traversal_order:
      return "list every tile from 0 once, or leave traversal out";
  }
  return {};
}

class Text {
 public:
  explicit Text(const Episode& episode)
      : episode_(episode), instance_(episode.instance()), honest_(episode.step_rules().honest) {}

  void last_action(const std::optional<StepResult>& last, const Kernel& action) {
    title("LAST ACTION");
    if (!last) return line("none yet");
    if (last->cost) {
      line("valid: latency {}, working set {:.0f}, {} tiles x {} k-steps", time_text(last->cost->latency),
           last->cost->working_set, last->cost->tiles, last->cost->k_steps);
      return line("reward: {:.4f}", last->reward);
    }
    const StepError& error = *last->error;
    line("refused: {}", step_error_class_name(step_error_class(error.fault)));
    line("reason: {}", error.message);
    line("hint: {}", hint_for(episode_, error.fault, action));
    line("reward: {:.4f}{}", last->reward, last->counted ? "" : " (no step was used)");
  }

  void progress() {
    title("PROGRESS");
    const double total = episode_.total_latency();
    const double naive = episode_.naive_latency();
    const std::string so_far =
        fmt::format("latency so far {}, naive for all ops {}{}", time_text(total), time_text(naive),
                    total > 0 ? fmt::format(" ({:.1f} %)", percent(total, naive)) : "");
    line("step {} of {}, {} of {} ops run", episode_.steps(), episode_.options().max_steps,
         episode_.covered_ops(), instance_.op_count());
    line("{}", so_far);
    line("completed ops: {}", list_text(episode_.covered()));
    line("ready ops: {}", list_text(episode_.ready()));
    if (const auto missing = episode_.unstored_outputs(); !missing.empty())
      line("graph outputs made but not stored: {}", list_text(missing));
    if (episode_.done())
      line("THE END: {}; score {:.4f}", episode_.complete() ? "every op ran" : "out of steps",
           episode_.score());
  }

  void fast_memory() {
    title("FAST MEMORY");
    const std::int64_t capacity = instance_.machine().capacity;
    const std::int64_t used = episode_.fast_memory_used();
    line("tensors {}, {} of {} elements used ({:.1f} %), {} free", list_text(episode_.fast_memory()), used,
         capacity, percent(static_cast<double>(used), static_cast<double>(capacity)), capacity - used);
  }

  void ops() {
    title("OPS");
    const std::vector<OpId> ready = episode_.ready();
    for (OpId id = 0; id < instance_.op_count(); ++id) {
      const Op& op = instance_.op(id);
      const bool matmul = op.kind == OpKind::matmul;
      line("{}: {} {} -> {}, cost {}{}: {}", id, matmul ? "MatMul" : "Pointwise", list_text(op.inputs),
           list_text(op.outputs), time_text(op.base_cost),
           matmul ? fmt::format(", K {}", instance_.tensor(op.inputs.front()).width) : "",
           op_status(id, ready));
    }
  }

  void tensors() {
    title("TENSORS");
    for (TensorId id = 0; id < instance_.tensor_count(); ++id) {
      const Tensor& tensor = instance_.tensor(id);
      line("{}: {} x {} = {}{}, {}", id, tensor.width, tensor.height, tensor.size(),
           instance_.is_output(id) ? ", graph output" : "", place_of(id));
    }
  }

  void examples() {
    const std::vector<Kernel> steps = fusionops_parts::example_steps(episode_);
    if (steps.empty()) return;
    title("ACTIONS THAT ARE VALID NOW (examples, no advice)");
    for (const Kernel& step : steps) line("{}", step_text(step));
  }

  void rules() {
    const Machine& machine = instance_.machine();
    title("RULES");
    line("- Run every op{} within {} steps; the lower the summed latency, the better.",
         honest_ ? " and store every graph output" : "", episode_.options().max_steps);
    line("- A step's ops must be connected, and their inputs made before or within the step.");
    line(
        "- The output is cut into tiles of w x h (native {} x {}); a MatMul adds up K in steps of k. A tile "
        "takes the longer of its compute and its traffic / {}.",
        machine.native_width, machine.native_height, time_text(machine.bandwidth));
    line(
        "- What a step reads and writes, in tiles, and all of what is in fast memory must fit in {} "
        "elements.",
        machine.capacity);
    line(
        "- Tensors made and read within a step cost no traffic. Retained ones stay in fast memory for the "
        "next step only, and aren't stored{}.",
        honest_ ? "" : "; they can be loaded later all the same");
    if (honest_)
      line(
          "- What no step stored can't be loaded: a tensor read within the step that makes it isn't stored.");
    line("- {}", episode_.options().allow_recomputation ? "An op may run again." : "No op may run again.");
    line("- A refused action uses a step up; text that can't be read doesn't.");
  }

  void format() {
    title("ANSWER FORMAT");
    line("SCHEDULE ops=[op,...] config=[w,h,k] retain=[tensor,...] traversal=[tile,...]");
    line("retain may be empty; traversal, the order of the tiles as numbered row by row, may be left out");
  }

  std::string take() { return std::move(out_); }

 private:
  void title(std::string_view text) {
    if (!out_.empty()) out_ += '\n';
    out_.append(text).append("\n");
  }
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string op_status(OpId id, std::span<const OpId> ready) const {
    if (episode_.state().ran[static_cast<std::size_t>(id)]) return "completed";
    if (std::binary_search(ready.begin(), ready.end(), id)) return "ready";
    std::vector<OpId> missing;
    for (const TensorId input : instance_.op(id).inputs) {
      const OpId producer = instance_.producer(input);
      if (producer != no_op && !episode_.state().ran[static_cast<std::size_t>(producer)])
        missing.push_back(producer);
    }
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    return fmt::format("waits for {}", list_text(missing));
  }

  std::string_view place_of(TensorId id) const {
    const auto at = static_cast<std::size_t>(id);
    const StepState& state = episode_.state();
    if (instance_.is_input(id))
      return instance_.consumers(id).empty() ? "not used" : "graph input, in slow memory";
    if (state.resident[at]) return state.stored[at] ? "in fast and slow memory" : "in fast memory";
    if (!state.ran[static_cast<std::size_t>(instance_.producer(id))]) return "not made yet";
    return state.stored[at] || !honest_ ? "in slow memory" : "lost: made, but not stored";
  }

  const Episode& episode_;
  const Instance& instance_;
  bool honest_;
  std::string out_;
};

}  // namespace

std::string Episode::observation(bool with_examples) const {
  Text text(*this);
  text.last_action(last_, last_action_);
  text.progress();
  text.fast_memory();
  text.ops();
  text.tensors();
  if (with_examples) text.examples();
  text.rules();
  text.format();
  return text.take();
}

}  // namespace fuselage::grid

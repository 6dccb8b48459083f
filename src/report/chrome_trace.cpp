#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/report/export.h"
#include "fuselage/report/label.h"

namespace fuselage::report {
namespace {

constexpr int kernels_track = 1;
constexpr int memory_track = 2;
constexpr std::size_t longest_name = 200;  // characters

// Perfetto keeps whole nanoseconds and drops events that don't nest then. In whole microseconds every tool
// keeps all of it, and durations that are differences of ticks add up to the tick of the latency.
constexpr double ticks = 1000;            // microseconds of a unit of time
constexpr double longest = 9e15 / ticks;  // nanoseconds of more don't fit 63 bits

std::int64_t tick(double time) {
  return std::llround(ticks * time);
}

// One line an event, "ts" ascending within a track.
class Trace {
 public:
  void name(const char* what, int track, std::string_view text) {
    add(fmt::format(R"({{"ph": "M", "pid": 1, "tid": {}, "name": "{}", "args": {{"name": {}}}}})", track,
                    what, json_string(text)));
  }
  // `args`: the inside of an object.
  void span(int track, std::string_view text, std::int64_t start, std::int64_t end,
            const std::string& args = {}) {
    add(fmt::format(R"({{"ph": "X", "pid": 1, "tid": {}, "name": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                    track, json_string(text), start, end - start, args));
  }
  void counter(std::int64_t at, std::int64_t held, std::int64_t other) {
    add(fmt::format(
        R"({{"ph": "C", "pid": 1, "name": "fast memory", "ts": {}, "args": {{"held": {}, "tiles": {}}}}})",
        at, held, other));
  }
  std::string text(const Subject& subject, const Schedule& schedule) const {
    return fmt::format(
        R"({{"displayTimeUnit": "ms", "otherData": {{"graph": {}, "plan": {}, "rules": {}, "time": "1 ms is 1 of the {}"}},
"traceEvents": [
{}
]}}
)",
        json_string(subject.name), json_string(schedule.label), json_string(schedule.rules),
        subject.time_unit, events_);
  }

 private:
  void add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }

  std::string events_;
};

std::string ops_text(const Subject& subject, const Kernel& kernel) {
  std::string text;
  for (const OpId op : kernel.ops)
    text += (text.empty() ? "" : "+") + subject.ops[static_cast<std::size_t>(op)].kind;
  return text;
}

std::string names_text(const Subject& subject, const Kernel& kernel) {
  std::string text;
  for (const OpId op : kernel.ops)
    if (const std::string& name = subject.ops[static_cast<std::size_t>(op)].name; !name.empty())
      text += (text.empty() ? "" : ", ") + label_of(name, longest_name);
  return label_of(text, longest_name);
}

std::string details(const Subject& subject, const Kernel& kernel) {
  return fmt::format(
      R"("ops": "{}", "names": {}, "tile": "{}", "retain": "{}", "bound": "{}", "compute": {}, "memory": {}, )"
      R"("loaded": {}, "stored": {}, "working_set": {})",
      fmt::join(kernel.ops, " "), json_string(names_text(subject, kernel)), kernel.tile,
      fmt::join(kernel.retain, " "), kernel.bound, json_number(kernel.compute), json_number(kernel.memory),
      json_number(kernel.loaded), json_number(kernel.stored), kernel.working_set);
}

}  // namespace

std::string chrome_trace(const Subject& subject, const Schedule& schedule) {
  if (schedule.latency > longest)
    fail("{}: a latency of {} {} is too long for a trace; expected at most {:g}", subject.name,
         schedule.latency, subject.time_unit, longest);
  Trace trace;
  trace.name("process_name", kernels_track, label_of(subject.name, longest_name));
  trace.name("thread_name", kernels_track, "kernels: launch and compute");
  trace.name("thread_name", memory_track, "memory: transfers");
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    const std::int64_t start = tick(kernel.start);
    const std::int64_t end = tick(kernel.end);
    const double begun = kernel.start + kernel.launch;
    const std::int64_t launched = std::min(tick(begun), end);
    trace.span(kernels_track,
               fmt::format("kernel {}: {}", k, label_of(ops_text(subject, kernel), longest_name)), start, end,
               details(subject, kernel));
    if (kernel.launch > 0) trace.span(kernels_track, "launch", start, launched);
    if (kernel.compute > 0)
      trace.span(kernels_track, "compute", launched, std::min(tick(begun + kernel.compute), end));
    if (kernel.memory > 0)
      trace.span(memory_track, fmt::format("kernel {}: transfers", k), launched,
                 std::min(tick(begun + kernel.memory), end),
                 fmt::format(R"("loads": "{}", "stores": "{}", "loaded": {}, "stored": {})",
                             fmt::join(kernel.loads, " "), fmt::join(kernel.stores, " "),
                             json_number(kernel.loaded), json_number(kernel.stored)));
    trace.counter(start, kernel.held_size, kernel.working_set - kernel.held_size);
  }
  trace.counter(tick(schedule.latency), 0, 0);
  return trace.text(subject, schedule);
}

}  // namespace fuselage::report

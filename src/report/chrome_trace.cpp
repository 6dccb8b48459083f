#include <fmt/format.h>

#include <algorithm>

#include "fuselage/core/json.h"
#include "fuselage/report/export.h"
#include "fuselage/report/label.h"

namespace fuselage::report {
namespace {

constexpr int kernels_track = 1;
constexpr int memory_track = 2;
constexpr std::size_t longest_name = 200;  // characters

// One line an event, "ts" ascending within a track.
class Trace {
 public:
  void name(const char* what, int track, std::string_view text) {
    add(fmt::format(R"({{"ph": "M", "pid": 1, "tid": {}, "name": "{}", "args": {{"name": {}}}}})", track,
                    what, json_string(text)));
  }
  // `args`: the inside of an object.
  void span(int track, std::string_view text, double start, double end, const std::string& args = {}) {
    add(fmt::format(R"({{"ph": "X", "pid": 1, "tid": {}, "name": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
                    track, json_string(text), json_number(start), json_number(end - start), args));
  }
  void counter(double at, std::int64_t held, std::int64_t other) {
    add(fmt::format(
        R"({{"ph": "C", "pid": 1, "name": "fast memory", "ts": {}, "args": {{"held": {}, "tiles": {}}}}})",
        json_number(at), held, other));
  }
  std::string text(const Subject& subject, const Schedule& schedule) const {
    return fmt::format(
        R"({{"displayTimeUnit": "ms", "otherData": {{"graph": {}, "plan": {}, "rules": {}, "time": "1 us is 1 of the {}"}},
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
  Trace trace;
  trace.name("process_name", kernels_track, label_of(subject.name, longest_name));
  trace.name("thread_name", kernels_track, "kernels: launch and compute");
  trace.name("thread_name", memory_track, "memory: transfers");
  for (std::size_t k = 0; k < schedule.kernels.size(); ++k) {
    const Kernel& kernel = schedule.kernels[k];
    const std::string name =
        fmt::format("kernel {}: {}", k, label_of(ops_text(subject, kernel), longest_name));
    const double launched = std::min(kernel.start + kernel.launch, kernel.end);
    trace.span(kernels_track, name, kernel.start, kernel.end, details(subject, kernel));
    if (kernel.launch > 0) trace.span(kernels_track, "launch", kernel.start, launched);
    if (kernel.compute > 0)
      trace.span(kernels_track, "compute", launched, std::min(launched + kernel.compute, kernel.end));
    if (kernel.memory > 0)
      trace.span(memory_track, fmt::format("kernel {}: transfers", k), launched,
                 std::min(launched + kernel.memory, kernel.end),
                 fmt::format(R"("loads": "{}", "stores": "{}", "loaded": {}, "stored": {})",
                             fmt::join(kernel.loads, " "), fmt::join(kernel.stores, " "),
                             json_number(kernel.loaded), json_number(kernel.stored)));
    trace.counter(kernel.start, kernel.held_size, kernel.working_set - kernel.held_size);
  }
  trace.counter(schedule.latency, 0, 0);
  return trace.text(subject, schedule);
}

}  // namespace fuselage::report

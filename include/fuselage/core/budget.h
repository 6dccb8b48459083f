// How much a search may spend, and the one meter that charges it. Steps (kernels priced) are the reproducible
// budget; seconds and bytes are safety nets, checked now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace fuselage {

struct Budget {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();  // kernels priced
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // of search states held at once
  double wall_seconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* cancel = nullptr;  // set by somebody else: stop soon
};

enum class StopReason : std::uint8_t { exhausted, steps, memory, time, cancelled };

constexpr const char* name(StopReason reason) {
  switch (reason) {
    case StopReason::steps:
      return "steps";
    case StopReason::memory:
      return "memory";
    case StopReason::time:
      return "time";
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::exhausted:
      break;
  }
  return "exhausted";
}

class Meter {
 public:
  explicit Meter(const Budget& budget) : budget_(budget), start_(Clock::now()) {}

  void charge(std::uint64_t steps) { steps_ += steps; }
  void hold(std::uint64_t bytes) { bytes_ = bytes; }
  std::uint64_t steps() const { return steps_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // From so many more steps on `spent` is true until the next call: time for a word with others.
  void pause_after(std::uint64_t steps) {
    pause_ = steps_ > std::numeric_limits<std::uint64_t>::max() - steps
                 ? std::numeric_limits<std::uint64_t>::max()
                 : steps_ + steps;
  }

  // Has the budget ended, or is a pause due? The clock is read every 64th call only.
  bool spent() {
    if (reason_ != StopReason::exhausted) return true;
    if (steps_ >= budget_.steps) reason_ = StopReason::steps;
    if (bytes_ > budget_.bytes) reason_ = StopReason::memory;
    if (budget_.cancel && budget_.cancel->load(std::memory_order_relaxed)) reason_ = StopReason::cancelled;
    if (calls_++ % 64 == 0 && budget_.wall_seconds < std::numeric_limits<double>::infinity() &&
        seconds() >= budget_.wall_seconds)
      reason_ = StopReason::time;
    return reason_ != StopReason::exhausted || steps_ >= pause_;
  }
  // Why the budget has ended; exhausted if it has not.
  StopReason reason() const { return reason_; }

 private:
  using Clock = std::chrono::steady_clock;
  Budget budget_;
  Clock::time_point start_;
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t pause_ = std::numeric_limits<std::uint64_t>::max();
  StopReason reason_ = StopReason::exhausted;
};

}  // namespace fuselage

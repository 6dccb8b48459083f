// How much a search may spend, and who keeps it. Steps (kernels priced) are the reproducible budget, charged
// through one meter; seconds, bytes and Ctrl-C are safety nets. They hold for all that a search does, also for
// what prices nothing (setting up, listing, judging): that asks the deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>

namespace fuselage {

struct Budget {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();  // kernels priced
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();  // of search states held at once
  // Of memory that the whole process has resident; bytes above is the reproducible limit, this one holds.
  std::uint64_t process_bytes = std::numeric_limits<std::uint64_t>::max();
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

// A moment, or somebody who cancels: whoever works in a loop asks every millisecond or so. Can be copied, and
// asked by several threads at once.
class Deadline {
 public:
  Deadline() = default;  // never
  // The budget's seconds count from now on.
  explicit Deadline(const Budget& budget) : end_(after(budget.wall_seconds)), cancel_(budget.cancel) {}

  bool cancelled() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }
  bool passed() const { return cancelled() || (end_ != never && Clock::now() >= end_); }
  double seconds_left() const {
    return end_ == never ? std::numeric_limits<double>::infinity()
                         : std::chrono::duration<double>(end_ - Clock::now()).count();
  }
  // A part of the time that is left.
  Deadline share(double part) const {
    Deadline sooner = *this;
    if (end_ != never) sooner.end_ = after(seconds_left() * part);
    return sooner;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point never = Clock::time_point::max();
  static Clock::time_point after(double seconds) {
    constexpr double longest = 1e9;  // 30 years: no overflow
    if (!(seconds < longest)) return never;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  Clock::time_point end_ = never;
  const std::atomic<bool>* cancel_ = nullptr;
};

// Resident memory of this process; 0 if the system doesn't tell.
std::uint64_t resident_bytes();
// Throws Error if the process has outgrown process_bytes before the search of `what` has begun; says the need.
void check_set_up_memory(const Budget& budget, std::string_view what);

class Meter {
 public:
  explicit Meter(const Budget& budget) : budget_(budget), deadline_(budget), start_(Clock::now()) {}

  void charge(std::uint64_t steps) { steps_ += steps; }
  void hold(std::uint64_t bytes) { bytes_ = bytes; }
  std::uint64_t steps() const { return steps_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  const Deadline& deadline() const { return deadline_; }

  // From so many more steps on `spent` is true until the next call: time for others to be asked.
  void pause_after(std::uint64_t steps) {
    pause_ = steps_ > std::numeric_limits<std::uint64_t>::max() - steps
                 ? std::numeric_limits<std::uint64_t>::max()
                 : steps_ + steps;
  }

  // Has the budget ended, or is a pause due? The clock is read when there was something to charge since, or
  // else every 64th call.
  bool spent() {
    if (reason_ != StopReason::exhausted) return true;
    if (steps_ >= budget_.steps) reason_ = StopReason::steps;
    if (bytes_ > budget_.bytes) reason_ = StopReason::memory;
    if (deadline_.cancelled()) reason_ = StopReason::cancelled;
    if (calls_++ % 64 == 0 || steps_ >= next_look_) look();
    return reason_ != StopReason::exhausted || steps_ >= pause_;
  }
  // Is time up, or the process too large? Then even a state whose kernels are being priced is left as it is,
  // which a budget of steps never does.
  bool hurried() {
    look();
    return is_hurry(reason_);
  }
  // Why the budget has ended; exhausted if it has not.
  StopReason reason() const { return reason_; }

  // For a first plan, which is made whatever the steps: the same deadline; a moment if that has passed.
  Meter overrun() const {
    constexpr double moment = 0.05;  // seconds
    Budget rest = {.process_bytes = budget_.process_bytes};
    if (deadline_.passed()) {
      rest.wall_seconds = moment;
    } else {
      rest.wall_seconds = deadline_.seconds_left();
      rest.cancel = budget_.cancel;
    }
    return Meter(rest);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t steps_between_looks = 256;
  static constexpr double seconds_between_weighings = 0.002;

  static bool is_hurry(StopReason reason) {
    return reason == StopReason::time || reason == StopReason::cancelled || reason == StopReason::memory;
  }
  void look() {
    next_look_ = steps_ + steps_between_looks;
    if (is_hurry(reason_)) return;
    if (deadline_.passed()) reason_ = deadline_.cancelled() ? StopReason::cancelled : StopReason::time;
    if (budget_.process_bytes == std::numeric_limits<std::uint64_t>::max()) return;
    if (const double now = seconds(); now >= next_weighing_) {
      next_weighing_ = now + seconds_between_weighings;
      if (resident_bytes() > budget_.process_bytes) reason_ = StopReason::memory;
    }
  }

  Budget budget_;
  Deadline deadline_;
  Clock::time_point start_;
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t next_look_ = 0;
  std::uint64_t pause_ = std::numeric_limits<std::uint64_t>::max();
  double next_weighing_ = 0;  // seconds
  StopReason reason_ = StopReason::exhausted;
};

}  // namespace fuselage

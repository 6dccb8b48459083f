// Who watches a search: engines report what they find and prove, from any thread; the monitor keeps the best
// of both and tells its listener, once for each change and at least once a second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string_view>

#include "fuselage/core/cost.h"

namespace fuselage::search {

struct Event {
  double seconds = 0;                                     // since the search began
  std::uint64_t steps = 0;                                // kernels priced by all engines
  std::string_view engine;                                // whose news it is
  double cost = std::numeric_limits<double>::infinity();  // of the incumbent, cycles
  double lower_bound = 0;                                 // cycles
};

class Monitor {
 public:
  using Listener = std::function<void(const Event&)>;

  // The listener is called by one thread at a time, and never after the monitor is gone.
  explicit Monitor(Listener listener) : listener_(std::move(listener)), start_(Clock::now()) {}

  // A plan of this cost, a bound that holds for every plan: news only if better than all before.
  void found(std::string_view engine, double cost) { change(engine, cost, 0); }
  void bounded(std::string_view engine, double lower_bound) { change(engine, infinity, lower_bound); }
  // `steps` more kernels have been priced. Cheap enough for once a layer, not for once a kernel.
  void worked(std::string_view engine, std::uint64_t steps) {
    const std::lock_guard lock(mutex_);
    now_.steps += steps;
    const double seconds = elapsed();
    if (seconds - now_.seconds >= quiet_seconds) tell(engine, seconds);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double quiet_seconds = 1;
  static constexpr std::size_t usual_kernels = 32;  // of a plan
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void change(std::string_view engine, double cost, double lower_bound) {
    const std::lock_guard lock(mutex_);
    // Sums in another order are no news.
    const bool cheaper = cost < unbeatable_from(now_.cost, usual_kernels);
    if (!cheaper && !(unbeatable_from(lower_bound, usual_kernels) > now_.lower_bound)) return;
    now_.cost = std::min(now_.cost, cost);
    now_.lower_bound = std::max(now_.lower_bound, lower_bound);
    tell(engine, elapsed());
  }
  void tell(std::string_view engine, double seconds) {
    now_.engine = engine;
    now_.seconds = seconds;
    listener_(now_);
  }

  Listener listener_;
  Clock::time_point start_;
  std::mutex mutex_;
  Event now_;
};

}  // namespace fuselage::search

// Runs one engine to the end of its budget, and tells who watches how it fares.
#pragma once

#include <cstdint>

#include "fuselage/core/budget.h"
#include "fuselage/search/monitor.h"

namespace fuselage::search {

// Tells the monitor (if there is one) what the engine has found and proven so far.
template <class Engine>
void report(const Engine& engine, std::uint64_t steps, Monitor* monitor) {
  if (!monitor) return;
  monitor->worked(Engine::name, steps);
  if (engine.best().found()) monitor->found(Engine::name, engine.best().cost);
  monitor->bounded(Engine::name, engine.lower_bound());
}

template <class Engine>
void drive(Engine& engine, Meter& meter, Monitor* monitor) {
  constexpr std::uint64_t steps_between_reports = 1 << 14;
  bool finished = false;
  while (!finished && meter.reason() == StopReason::exhausted) {
    const std::uint64_t before = meter.steps();
    if (monitor) meter.pause_after(steps_between_reports);
    finished = engine.run(meter);
    report(engine, meter.steps() - before, monitor);
  }
}

}  // namespace fuselage::search

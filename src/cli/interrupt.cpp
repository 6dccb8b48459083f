#include "interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "standard_streams.h"

namespace fuselage::cli {
namespace {

constexpr std::int64_t same_signal_ns = 500'000'000;

// A signal handler can reach nothing but these.
std::atomic<bool> interrupted = false;
std::atomic<std::int64_t> first_ns = 0;  // 0: none yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::int64_t monotonic_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void end(int signal) {
  write_stderr(signal == SIGINT ? "fuselage: ended by an interrupt (SIGINT)\n"
                                : "fuselage: ended by a request to terminate (SIGTERM)\n");
  ::_exit(128 + signal);
}

void stop(int signal) {
  const int before = errno;
  const std::int64_t now = monotonic_ns();
  std::int64_t first = 0;
  if (first_ns.compare_exchange_strong(first, now)) {
    interrupted.store(true, std::memory_order_relaxed);
  } else if (now - first >= same_signal_ns) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // is blocked here, and ends the process as soon as this returns
  }
  errno = before;
}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

}  // namespace

void end_on_interrupt() {
  handle(end);
}

const std::atomic<bool>& stop_on_interrupt() {
  handle(stop);
  return interrupted;
}

}  // namespace fuselage::cli

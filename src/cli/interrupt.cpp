#include "interrupt.h"

#include <csignal>

namespace fuselage::cli {
namespace {

// A signal handler can reach nothing but this.
std::atomic<bool> interrupted = false;

}  // namespace

const std::atomic<bool>& stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted.store(true, std::memory_order_relaxed); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  return interrupted;
}

}  // namespace fuselage::cli

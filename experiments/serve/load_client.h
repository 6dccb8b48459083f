// A client that keeps many WebSockets busy: on each it begins an episode, steps it to its end and begins the
// next. Sockets and frames are its own (RFC 6455, as little of it as a client of one known server needs), so
// that what is measured is the server and not a client's library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fuselage::experiments {

struct LoadOptions {
  std::uint16_t port = 0;
  int connections = 64;
  int threads = 1;  // each has its share of the connections
  int batch = 1;    // actions of a message; more than one: `steps` messages
  double seconds = 5;
  std::string task = "task4_mixed";
  int ops = 24;  // of the task: steps of an episode
};

struct LoadResult {
  std::uint64_t steps = 0;
  std::uint64_t errors = 0;  // connections that broke, and answers that aren't what they should be
  double seconds = 0;
  std::vector<float> latencies =
      {};  // seconds, from a message's last byte sent to its answer's last byte read; sorted
};

// Error if the server can't be reached.
LoadResult run_load(const LoadOptions& options);

}  // namespace fuselage::experiments

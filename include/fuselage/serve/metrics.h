// What the server counts, as Prometheus reads it. Any thread may add; nothing is ever taken away but what is
// open now.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace fuselage::serve {

class Metrics {
 public:
  enum class Count : std::size_t {
    connections,  // accepted
    refused,      // connections turned away: no room, or too many of one client
    http_requests,
    messages,  // of WebSockets
    resets,
    steps,
    unread,  // steps whose command can't be read
    hints,
    errors,    // requests and messages answered with an error
    timeouts,  // connections cut because nothing, or too little, came
    reaped,    // idle sessions freed
    internal,  // errors that are a bug of the server
  };
  static constexpr std::size_t counts = 12;
  enum class Open : std::size_t { connections, sessions };

  void add(Count count, std::uint64_t n = 1) {
    counts_[static_cast<std::size_t>(count)].fetch_add(n, std::memory_order_relaxed);
  }
  std::uint64_t count(Count count) const {
    return counts_[static_cast<std::size_t>(count)].load(std::memory_order_relaxed);
  }
  void change(Open what, std::int64_t by) {
    open_[static_cast<std::size_t>(what)].fetch_add(by, std::memory_order_relaxed);
  }
  std::int64_t open(Open what) const {
    return open_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  // From a whole request to a whole reply, before it is sent.
  void took(double seconds);

  // The text format of Prometheus, version 0.0.4.
  std::string text() const;

 private:
  static constexpr std::size_t buckets = 10;
  std::array<std::atomic<std::uint64_t>, counts> counts_ = {};
  std::array<std::atomic<std::int64_t>, 2> open_ = {};
  std::array<std::atomic<std::uint64_t>, buckets + 1> took_ = {};  // by bucket, the last one is the rest
  std::atomic<std::uint64_t> took_nanoseconds_ = 0;
};

}  // namespace fuselage::serve

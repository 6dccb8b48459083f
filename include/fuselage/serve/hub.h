// What all connections of a server share: how episodes are made, how many there may be, and the counts.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "fuselage/serve/metrics.h"
#include "fuselage/serve/reset.h"

namespace fuselage::serve {

struct HubOptions {
  ResetLimits limits = {};
  bool oracle = false;             // are hints given?
  std::size_t capacity = 4'096;    // sessions, at most
  std::size_t per_client = 4'096;  // of them, of one address
  std::size_t most_batch = 1'000;  // actions of one `steps` message
  std::size_t most_reply_bytes = std::size_t{16} << 20;
  int hints_at_once = 1;      // so that some threads always go on
  double idle_seconds = 600;  // a session that nobody uses for so long is freed
  std::string version;
  std::uint64_t seed = 0;  // of graphs for which a client names none
};

// Room for one session, as long as it lives.
class Capacity;
class Slot {
 public:
  Slot(Capacity& capacity, std::string client) : capacity_(&capacity), client_(std::move(client)) {}
  Slot(Slot&& other) noexcept
      : capacity_(std::exchange(other.capacity_, nullptr)), client_(std::move(other.client_)) {}
  Slot& operator=(Slot&&) = delete;
  ~Slot();

 private:
  Capacity* capacity_;
  std::string client_;
};

class Capacity {
 public:
  Capacity(const HubOptions& options, Metrics& metrics) : options_(options), metrics_(metrics) {}
  // None if there is no room, or the client has all that one may have.
  std::optional<Slot> take(const std::string& client);
  std::size_t taken() const;

 private:
  friend class Slot;
  void give_back(const std::string& client);

  const HubOptions& options_;
  Metrics& metrics_;
  mutable std::mutex lock_;
  std::size_t taken_ = 0;
  std::map<std::string, std::size_t> by_client_;
};

// 128 random bits from the system, as an UUID: who doesn't know a session's id can't guess it.
std::string new_session_id();

struct Hub {
  explicit Hub(HubOptions o)
      : options(std::move(o)), capacity(options, metrics), maker(options.limits, options.seed) {}

  HubOptions options;
  Metrics metrics;
  Capacity capacity;
  EpisodeMaker maker;
  std::atomic<int> hints = 0;  // being made
};

// Appends the hint of an episode. Error if the server gives none, if too many are being made, and if this one
// takes too long.
void append_hint(Hub& hub, LiveEpisode& episode, std::string& out);

}  // namespace fuselage::serve

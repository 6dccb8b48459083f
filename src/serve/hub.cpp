#include "fuselage/serve/hub.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>

#include "fuselage/core/error.h"

namespace fuselage::serve {

Slot::~Slot() {
  if (capacity_ != nullptr) capacity_->give_back(client_);
}

std::optional<Slot> Capacity::take(const std::string& client) {
  const std::scoped_lock guard(lock_);
  if (taken_ >= options_.capacity) return std::nullopt;
  std::size_t& own = by_client_[client];
  if (own >= options_.per_client) return std::nullopt;
  ++own;
  ++taken_;
  metrics_.change(Metrics::Open::sessions, 1);
  return Slot(*this, client);
}

std::size_t Capacity::taken() const {
  const std::scoped_lock guard(lock_);
  return taken_;
}

void Capacity::give_back(const std::string& client) {
  const std::scoped_lock guard(lock_);
  --taken_;
  metrics_.change(Metrics::Open::sessions, -1);
  const auto own = by_client_.find(client);
  if (--own->second == 0) by_client_.erase(own);
}

void append_hint(Hub& hub, LiveEpisode& episode, std::string& out) {
  if (!hub.options.oracle) fail("hint: this server gives none; expected one that runs with --oracle");
  struct Place {
    explicit Place(std::atomic<int>& c) : count(c), number(++c) {}
    ~Place() { --count; }
    std::atomic<int>& count;
    int number;
  };
  const Place place(hub.hints);
  if (place.number > hub.options.hints_at_once) fail("hint: others are being made; try again");
  episode.append_hint(out);
  hub.metrics.add(Metrics::Count::hints);
}

std::string new_session_id() {
  std::array<unsigned char, 16> bits;
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    throw std::logic_error("the system gives no random bits");
  bits[6] = static_cast<unsigned char>((bits[6] & 0x0f) | 0x40);  // RFC 9562: version 4
  bits[8] = static_cast<unsigned char>((bits[8] & 0x3f) | 0x80);
  std::string id;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) id += '-';
    id += fmt::format("{:02x}", bits[i]);
  }
  return id;
}

}  // namespace fuselage::serve

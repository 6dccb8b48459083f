// What the connections of one thread share.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "fuselage/serve/host_guard.h"
#include "fuselage/serve/http_api.h"
#include "fuselage/serve/server.h"

namespace fuselage::serve {

// Connections open now, in all and by client.
class ConnectionCount {
 public:
  ConnectionCount(const ServerOptions& options, Metrics& metrics) : options_(options), metrics_(metrics) {}
  bool take(const std::string& client);  // false: there is no room
  void give_back(const std::string& client);

 private:
  const ServerOptions& options_;
  Metrics& metrics_;
  std::mutex lock_;
  std::size_t open_ = 0;
  std::map<std::string, std::size_t> by_client_;
};

inline HostGuard::Options guard_options(const ServerOptions& options) {
  boost::system::error_code none;  // what is no address, can't be listened on either
  const auto address = boost::asio::ip::make_address(options.host, none);
  return {.reachable = !address.is_loopback(),
          .has_token = !options.token.empty(),
          .names = options.allowed_hosts};
}

struct Shared {
  explicit Shared(const ServerOptions& o)
      : options(o), hosts(guard_options(o)), hub(o.hub), api(hub), connections(options, hub.metrics) {}

  ServerOptions options;
  HostGuard hosts;
  Hub hub;
  HttpApi api;
  ConnectionCount connections;

  void log(const std::string& line) const {
    if (options.access_log) options.access_log(line);
  }
};

// Something that is looked at every second, and told when the server stops. All calls from its own thread.
class Watched {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Watched() = default;
  virtual void look(Clock::time_point now) = 0;
  virtual void stop() = 0;  // say goodbye
  virtual void cut() = 0;   // now
};

struct Worker {
  explicit Worker(Shared& s) : shared(s) {}

  Shared& shared;
  std::set<Watched*> connections;
  boost::asio::io_context context{1};  // one thread; goes first, and takes the connections with it
};

}  // namespace fuselage::serve

// The environment server: HTTP and WebSockets on one port, one thread a core, each with its own connections,
// so that a connection needs no lock. What clients may ask for is in http_api.h and dialogue.h; here are
// sockets, limits and time-outs. A client that is slow, silent or broken costs its own connection only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuselage/serve/hub.h"

namespace fuselage::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 7860;  // 0: any that is free
  int threads = 1;
  std::string token = {};  // if not empty, requests must carry it: Authorization: Bearer TOKEN
  // Names of this machine beside localhost and its addresses, see host_guard.h.
  std::vector<std::string> allowed_hosts = {};
  std::size_t most_connections = 16'384;
  std::size_t most_connections_a_client = 16'384;
  std::size_t most_body_bytes = 1 << 20;     // of an HTTP body
  std::size_t most_message_bytes = 1 << 20;  // of a WebSocket message
  double request_seconds = 10;               // to send one whole request, or to read one whole reply
  double keep_alive_seconds = 60;            // between two HTTP requests
  double ping_seconds = 20;  // of silence before a WebSocket is pinged; after as many again it is dead
  double grace_seconds = 5;  // for clients to go, once the server stops
  std::function<void(const std::string&)> access_log = {};  // told a line of JSON; any thread
  HubOptions hub = {};
};

class Server {
 public:
  // Binds and listens. Error if that can't be done: the address is in use, or isn't this machine's.
  explicit Server(const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const;
  // Serves until `stop` is set; then takes nobody else, tells the clients, and waits for them for a while.
  void run(const std::atomic<bool>& stop);
  const Metrics& metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuselage::serve

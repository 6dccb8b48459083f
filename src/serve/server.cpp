#include "fuselage/serve/server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <vector>

#include "connections.h"
#include "fuselage/core/error.h"

namespace fuselage::serve {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

bool ConnectionCount::take(const std::string& client) {
  const std::scoped_lock guard(lock_);
  if (open_ >= options_.most_connections) return false;
  std::size_t& own = by_client_[client];
  if (own >= options_.most_connections_a_client) return false;
  ++own;
  ++open_;
  metrics_.change(Metrics::Open::connections, 1);
  return true;
}

void ConnectionCount::give_back(const std::string& client) {
  const std::scoped_lock guard(lock_);
  --open_;
  metrics_.change(Metrics::Open::connections, -1);
  const auto own = by_client_.find(client);
  if (--own->second == 0) by_client_.erase(own);
}

class Server::Impl {
 public:
  explicit Impl(const ServerOptions& options) : shared_(options) {
    for (int i = 0; i < std::max(1, options.threads); ++i)
      workers_.push_back(std::make_unique<Worker>(shared_));
    acceptor_.emplace(workers_.front()->context);
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options.host, error);
    if (error)
      fail("--host: {} is no address; expected one of this machine's, such as 127.0.0.1", options.host);
    const tcp::endpoint endpoint(address, options.port);
    const auto check = [&](const char* what) {
      if (error) fail("{}:{}: cannot {}: {}", options.host, options.port, what, error.message());
    };
    acceptor_->open(endpoint.protocol(), error);
    check("open a socket");
    acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    check("set up the socket");
    acceptor_->bind(endpoint, error);
    check("listen there");
    acceptor_->listen(asio::socket_base::max_listen_connections, error);
    check("listen there");
  }

  std::uint16_t port() const { return acceptor_->local_endpoint().port(); }
  const Metrics& metrics() const { return shared_.hub.metrics; }

  void run(const std::atomic<bool>& stop) {
    for (const auto& worker : workers_) watch(*worker);
    reap();
    accept();
    poll(stop);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers_.size(); ++i)
      threads.emplace_back([&worker = *workers_[i]] { work(worker); });
    work(*workers_.front());
  }

 private:
  // A thread that sleeps takes longer to wake up than a step takes. So with few connections, where nothing
  // else keeps it awake, it looks for the next message for a moment before it sleeps.
  static void work(Worker& worker) {
    using Clock = std::chrono::steady_clock;
    constexpr auto moment = std::chrono::microseconds(100);
    constexpr std::size_t few = 2;
    Clock::time_point busy = Clock::now();
    while (!worker.context.stopped()) {
      if (worker.context.poll() > 0)
        busy = Clock::now();
      else if (worker.connections.empty() || worker.connections.size() > few || Clock::now() - busy > moment)
        worker.context.run_one();
    }
  }

  void accept() {
    Worker& worker = *workers_[next_++ % workers_.size()];
    acceptor_->async_accept(worker.context, [this, &worker](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_->is_open()) return;
      if (!error) welcome(worker, std::move(socket));
      if (error && error != asio::error::connection_aborted) return accept_later();
      accept();
    });
  }

  // The process has no more descriptors, or the system no more memory: others have to go first.
  void accept_later() {
    const auto timer =
        std::make_shared<asio::steady_timer>(workers_.front()->context, std::chrono::milliseconds(50));
    timer->async_wait([this, timer](error_code) {
      if (acceptor_->is_open()) accept();
    });
  }

  void welcome(Worker& worker, tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;
    std::string client = peer.address().to_string();
    if (!shared_.connections.take(client)) {
      shared_.hub.metrics.add(Metrics::Count::refused);
      return;  // closes it
    }
    shared_.hub.metrics.add(Metrics::Count::connections);
    socket.set_option(tcp::no_delay(true), error);
    asio::post(worker.context, [&worker, socket = std::move(socket), client = std::move(client)]() mutable {
      serve_http(worker, std::move(socket), std::move(client));
    });
  }

  // Every second each connection is looked at by its own thread.
  void watch(Worker& worker) {
    const auto timer = std::make_shared<asio::steady_timer>(worker.context, std::chrono::seconds(1));
    timer->async_wait([this, &worker, timer](error_code) {
      // Looking may end a connection, which takes it out of the set.
      const std::vector<Watched*> all(worker.connections.begin(), worker.connections.end());
      const auto now = Watched::Clock::now();
      for (Watched* one : all)
        if (worker.connections.contains(one)) one->look(now);
      if (!finished_) watch(worker);
    });
  }

  void reap() {
    const auto timer =
        std::make_shared<asio::steady_timer>(workers_.front()->context, std::chrono::seconds(1));
    timer->async_wait([this, timer](error_code) {
      shared_.api.reap();
      if (!finished_) reap();
    });
  }

  void poll(const std::atomic<bool>& stop) {
    const auto timer =
        std::make_shared<asio::steady_timer>(workers_.front()->context, std::chrono::milliseconds(50));
    timer->async_wait([this, &stop, timer](error_code) {
      if (stop) return say_goodbye();
      poll(stop);
    });
  }

  void for_all(void (Watched::*what)()) {
    for (const auto& worker : workers_)
      asio::post(worker->context, [&worker = *worker, what] {
        const std::vector<Watched*> all(worker.connections.begin(), worker.connections.end());
        for (Watched* one : all)
          if (worker.connections.contains(one)) (one->*what)();
      });
  }

  void say_goodbye() {
    error_code ignored;
    acceptor_->close(ignored);
    for_all(&Watched::stop);
    const auto until =
        Watched::Clock::now() + std::chrono::duration_cast<Watched::Clock::duration>(
                                    std::chrono::duration<double>(shared_.options.grace_seconds));
    wait_for_clients(until);
  }

  void wait_for_clients(Watched::Clock::time_point until) {
    const auto timer =
        std::make_shared<asio::steady_timer>(workers_.front()->context, std::chrono::milliseconds(20));
    timer->async_wait([this, until, timer](error_code) {
      const bool late = Watched::Clock::now() >= until;
      if (shared_.hub.metrics.open(Metrics::Open::connections) > 0 && !late) return wait_for_clients(until);
      finished_ = true;
      for_all(&Watched::cut);
      for (const auto& worker : workers_)
        asio::post(worker->context, [&worker = *worker] { worker.context.stop(); });
    });
  }

  Shared shared_;
  std::vector<std::unique_ptr<Worker>> workers_;  // go before what they share
  std::optional<tcp::acceptor> acceptor_;
  std::size_t next_ = 0;
  std::atomic<bool> finished_ = false;
};

Server::Server(const ServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Server::~Server() = default;

std::uint16_t Server::port() const {
  return impl_->port();
}
void Server::run(const std::atomic<bool>& stop) {
  impl_->run(stop);
}
const Metrics& Server::metrics() const {
  return impl_->metrics();
}

}  // namespace fuselage::serve

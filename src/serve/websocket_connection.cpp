#include "websocket_connection.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <memory>
#include <utility>

#include "fuselage/core/json.h"
#include "fuselage/serve/dialogue.h"

namespace fuselage::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

constexpr std::size_t kept_reply_bytes = std::size_t{64} << 10;  // of a buffer between two replies

class WebSocketConnection : public Watched, public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(Worker& worker, asio::ip::tcp::socket socket, std::string client,
                      std::optional<Dialect> dialect)
      : worker_(worker),
        socket_(std::move(socket)),
        client_(std::move(client)),
        dialogue_(worker.shared.hub, client_, dialect) {
    worker_.connections.insert(this);
  }
  ~WebSocketConnection() override {
    worker_.connections.erase(this);
    worker_.shared.connections.give_back(client_);
    worker_.shared.log(fmt::format(R"({{"client":{},"websocket":"closed","messages":{},"seconds":{:.3f}}})",
                                   json_string(client_), messages_, seconds_since(begun_, Clock::now())));
  }

  void accept(HttpMessage request) {
    request_ = std::move(request);
    socket_.read_message_max(worker_.shared.options.most_message_bytes);
    socket_.auto_fragment(false);
    socket_.text(true);
    // A control frame is a sign of life as a whole message is, a pong above all.
    socket_.control_callback([this](websocket::frame_type, beast::string_view) { alive_ = Clock::now(); });
    socket_.async_accept(request_, [self = shared_from_this()](error_code error) {
      self->request_ = {};
      if (error) return;
      if (self->stopped_) return self->close(websocket::close_code::going_away);
      self->read();
    });
  }

  void look(Clock::time_point now) override {
    const ServerOptions& options = worker_.shared.options;
    const double silent = seconds_since(alive_, now);
    const bool idle = seconds_since(used_, now) > options.hub.idle_seconds;
    const bool unread = writing_ && seconds_since(used_, now) > options.request_seconds;
    if (unread || silent > 2 * options.ping_seconds || (closing_ && silent > options.grace_seconds)) {
      worker_.shared.hub.metrics.add(Metrics::Count::timeouts);
      cut();
    } else if (idle && !closing_) {
      worker_.shared.hub.metrics.add(Metrics::Count::reaped);
      close(websocket::close_code::policy_error);
    } else if (silent > options.ping_seconds && !pinging_ && !closing_ && socket_.is_open()) {
      pinging_ = true;
      socket_.async_ping({}, [self = shared_from_this()](error_code) { self->pinging_ = false; });
    }
  }
  void stop() override {
    stopped_ = true;
    close(websocket::close_code::going_away);
  }
  void cut() override {
    error_code ignored;
    beast::get_lowest_layer(socket_).close(ignored);
  }

 private:
  static double seconds_since(Clock::time_point then, Clock::time_point now) {
    return std::chrono::duration<double>(now - then).count();
  }

  void read() {
    socket_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) self->answer();
    });
  }

  void answer() {
    const Clock::time_point begun = Clock::now();
    alive_ = used_ = begun;
    ++messages_;
    reply_.clear();
    const auto data = buffer_.data();
    const std::string_view message(static_cast<const char*>(data.data()), data.size());
    const bool go_on = dialogue_.answer(message, reply_);
    buffer_.consume(buffer_.size());
    worker_.shared.hub.metrics.took(seconds_since(begun, Clock::now()));
    if (!go_on) return close(websocket::close_code::normal);
    writing_ = true;
    socket_.async_write(asio::buffer(reply_), [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return;
      self->alive_ = Clock::now();
      if (self->reply_.capacity() > kept_reply_bytes) std::string().swap(self->reply_);
      self->read();
    });
  }

  void close(websocket::close_code code) {
    if (!socket_.is_open() || std::exchange(closing_, true)) return;
    alive_ = Clock::now();
    socket_.async_close(code, [self = shared_from_this()](error_code) {});
  }

  Worker& worker_;
  websocket::stream<asio::ip::tcp::socket> socket_;
  std::string client_;
  Dialogue dialogue_;
  HttpMessage request_;
  beast::flat_buffer buffer_;
  std::string reply_;
  bool pinging_ = false;
  bool writing_ = false;  // since used_
  bool stopped_ = false;
  bool closing_ = false;
  std::uint64_t messages_ = 0;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point alive_ = begun_;  // any sign of life
  Clock::time_point used_ = begun_;   // a whole message
};

}  // namespace

void serve_websocket(Worker& worker, asio::ip::tcp::socket socket, std::string client, HttpMessage request,
                     std::optional<Dialect> dialect) {
  std::make_shared<WebSocketConnection>(worker, std::move(socket), std::move(client), dialect)
      ->accept(std::move(request));
}

}  // namespace fuselage::serve

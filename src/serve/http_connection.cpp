#include <fmt/format.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "connections.h"
#include "fuselage/core/json.h"
#include "websocket_connection.h"

namespace fuselage::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t most_header_bytes = 16 << 10;

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

// The same time for every guess of the same length.
bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

class HttpConnection : public Watched, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Worker& worker, asio::ip::tcp::socket socket, std::string client)
      : worker_(worker), stream_(std::move(socket)), client_(std::move(client)) {
    worker_.connections.insert(this);
  }
  ~HttpConnection() override {
    worker_.connections.erase(this);
    if (!handed_over_) worker_.shared.connections.give_back(client_);
  }

  void look(Clock::time_point) override {}  // the stream has its own timers
  void stop() override {
    stopping_ = true;
    if (waiting_) cut();
  }
  void cut() override { stream_.cancel(); }

  // `first`: of the connection, which has no reason to wait.
  void read(bool first) {
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(worker_.shared.options.most_body_bytes);
    waiting_ = true;
    const ServerOptions& options = worker_.shared.options;
    stream_.expires_after(duration_of(first ? options.request_seconds : options.keep_alive_seconds));
    if (buffer_.size() > 0) stream_.expires_after(duration_of(options.request_seconds));
    if (first || buffer_.size() > 0) return read_header();
    // The time for a request begins with its first byte.
    buffer_.reserve(4096);
    stream_.async_read_some(
        buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t size) {
          if (error) return self->failed(error);
          self->buffer_.commit(size);
          self->stream_.expires_after(duration_of(self->worker_.shared.options.request_seconds));
          self->read_header();
        });
  }

 private:
  void read_header() {
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      self->waiting_ = false;
      if (error) return self->failed(error);
      self->answer();
    });
  }

  void failed(error_code error) {
    if (error == beast::error::timeout) worker_.shared.hub.metrics.add(Metrics::Count::timeouts);
    if (error == http::error::body_limit)
      return refuse(413,
                    fmt::format("the body is longer than {} bytes", worker_.shared.options.most_body_bytes));
    if (error == http::error::header_limit)
      return refuse(431, fmt::format("the header is longer than {} bytes", most_header_bytes));
    const bool gone = error == http::error::end_of_stream || error == http::error::partial_message ||
                      error == beast::error::timeout || error == asio::error::operation_aborted ||
                      error.category() == asio::error::get_system_category() || error == asio::error::eof;
    if (!gone) refuse(400, "this is no HTTP request");
  }

  void refuse(int status, const std::string& message) {
    worker_.shared.hub.metrics.add(Metrics::Count::errors);
    keep_alive_ = false;
    method_ = target_ = "-";
    begun_ = Clock::now();
    send({.status = status, .body = R"({"error":)" + json_string(message) + "}"});
  }

  bool is_allowed(const HttpMessage& request) const {
    const std::string& token = worker_.shared.options.token;
    const std::string_view target = target_;
    if (token.empty() || target == "/health") return true;
    constexpr std::string_view scheme = "Bearer ";
    const std::string_view given = view_of(request[http::field::authorization]);
    if (given.starts_with(scheme)) return equal_secrets(given.substr(scheme.size()), token);
    // A browser's WebSocket, or a page that is typed in, can't send a header.
    const std::size_t mark = std::min(target.find('?'), target.size());
    if (target.substr(0, mark) != "/ws" && target.substr(0, mark) != "/web") return false;
    return equal_secrets(query_value(target.substr(std::min(mark + 1, target.size())), "token"), token);
  }

  static std::vector<std::string_view> values_of(const HttpMessage& request, http::field name) {
    std::vector<std::string_view> values;
    const auto range = request.equal_range(name);
    for (auto field = range.first; field != range.second; ++field) values.push_back(view_of(field->value()));
    return values;
  }

  // A page of another site may not talk to this server through its reader's browser.
  std::optional<std::string> foreign(const HttpMessage& request) const {
    return worker_.shared.hosts.fault({.hosts = values_of(request, http::field::host),
                                       .origins = values_of(request, http::field::origin),
                                       .target = view_of(request.target())});
  }

  void answer() {
    begun_ = Clock::now();
    HttpMessage request = parser_->release();
    keep_alive_ = request.keep_alive() && !stopping_;
    version_ = request.version();
    method_ = std::string(view_of(request.method_string()));
    target_ = std::string(target_path(view_of(request.target())));
    if (const auto fault = foreign(request)) {
      worker_.shared.hub.metrics.add(Metrics::Count::errors);
      return send({.status = 403, .body = R"({"error":)" + json_string(*fault) + "}"});
    }
    if (!is_allowed(request))
      return send({.status = 401, .body = R"({"error":"expected Authorization: Bearer TOKEN"})"});
    if (beast::websocket::is_upgrade(request)) return upgrade(std::move(request));
    HttpReply reply = worker_.shared.api.answer(
        {.method = method_, .target = target_, .body = request.body(), .client = client_});
    worker_.shared.hub.metrics.took(std::chrono::duration<double>(Clock::now() - begun_).count());
    send(std::move(reply));
  }

  void upgrade(HttpMessage request) {
    const std::string_view target = target_;
    if (target.substr(0, std::min(target.find('?'), target.size())) != "/ws")
      return send({.status = 404, .body = R"({"error":"WebSockets are at /ws"})"});
    std::optional<Dialect> dialect;
    if (target.find("dialect=openenv") != std::string_view::npos) dialect = Dialect::openenv;
    if (target.find("dialect=own") != std::string_view::npos) dialect = Dialect::own;
    log(101, 0);
    handed_over_ = true;
    stream_.expires_never();
    serve_websocket(worker_, stream_.release_socket(), client_, std::move(request), dialect);
  }

  void send(HttpReply reply) {
    response_ = {};
    response_.version(version_);
    response_.result(static_cast<unsigned>(reply.status));
    response_.set(http::field::content_type, beast::string_view(reply.type.data(), reply.type.size()));
    response_.set(http::field::server, "fuselage");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.keep_alive(keep_alive_);
    response_.body() = std::move(reply.body);
    response_.prepare_payload();
    log(reply.status, response_.body().size());
    if (method_ == "HEAD") response_.body().clear();  // its length stays in the header
    stream_.expires_after(duration_of(worker_.shared.options.request_seconds));
    http::async_write(stream_, response_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return;
      if (self->keep_alive_ && !self->stopping_) return self->read(false);
      error_code ignored;
      self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    });
  }

  void log(int status, std::size_t bytes) const {
    if (!worker_.shared.options.access_log) return;
    worker_.shared.log(fmt::format(
        R"({{"client":{},"method":{},"target":{},"status":{},"bytes":{},"seconds":{:.6f}}})",
        json_string(client_), json_string(method_), json_string(target_.substr(0, target_.find('?'))), status,
        bytes, std::chrono::duration<double>(Clock::now() - begun_).count()));
  }

  Worker& worker_;
  beast::tcp_stream stream_;
  std::string client_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::string method_, target_;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool waiting_ = false;
  bool stopping_ = false;
  bool handed_over_ = false;  // to a WebSocket, which holds the connection's place from then on
  Clock::time_point begun_ = Clock::now();
};

}  // namespace

void serve_http(Worker& worker, asio::ip::tcp::socket socket, std::string client) {
  std::make_shared<HttpConnection>(worker, std::move(socket), std::move(client))->read(true);
}

}  // namespace fuselage::serve

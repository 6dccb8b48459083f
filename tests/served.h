// A server in this process, and clients that talk to it over real sockets.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "fuselage/serve/server.h"

namespace fuselage {

class Served : public testing::Test {
 protected:
  using tcp = boost::asio::ip::tcp;

  // Before the first request.
  void start(serve::ServerOptions options = {}) {
    options.port = 0;
    options.hub.version = "test";
    server_ = std::make_unique<serve::Server>(options);
    thread_ = std::jthread([this] { server_->run(stop_); });
  }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  ~Served() override { stop(); }

  std::uint16_t port() const { return server_->port(); }
  const serve::Metrics& metrics() const { return server_->metrics(); }

  struct Reply {
    int status = 0;
    std::string body;
    nlohmann::json json() const { return nlohmann::json::parse(body); }
  };

  // One connection, one request after the other.
  class Http {
   public:
    explicit Http(std::uint16_t port) : socket_(context_) {
      socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }
    Reply request(const std::string& method, const std::string& target, const std::string& body = "",
                  const std::string& token = "") {
      namespace http = boost::beast::http;
      http::request<http::string_body> request(http::string_to_verb(method), target, 11);
      request.set(http::field::host, "localhost");
      if (!token.empty()) request.set(http::field::authorization, "Bearer " + token);
      request.body() = body;
      request.prepare_payload();
      http::write(socket_, request);
      http::response_parser<http::string_body> parser;
      if (method == "HEAD") parser.skip(true);
      http::read(socket_, buffer_, parser);
      return {.status = static_cast<int>(parser.get().result_int()), .body = parser.get().body()};
    }
    nlohmann::json post(const std::string& target, const nlohmann::json& body) {
      const Reply reply = request("POST", target, body.dump());
      EXPECT_EQ(reply.status, 200) << target << " " << reply.body;
      return reply.json();
    }
    nlohmann::json get(const std::string& target) {
      const Reply reply = request("GET", target);
      EXPECT_EQ(reply.status, 200) << target << " " << reply.body;
      return reply.json();
    }

   private:
    boost::asio::io_context context_;
    tcp::socket socket_;
    boost::beast::flat_buffer buffer_;
  };

  class Ws {
   public:
    explicit Ws(std::uint16_t port, const std::string& target = "/ws") : socket_(context_) {
      socket_.next_layer().connect({boost::asio::ip::address_v4::loopback(), port});
      socket_.handshake("localhost", target);
      socket_.text(true);
    }
    void send(const std::string& text) { socket_.write(boost::asio::buffer(text)); }
    std::string receive() {
      buffer_.clear();
      socket_.read(buffer_);
      return boost::beast::buffers_to_string(buffer_.data());
    }
    nlohmann::json ask(const nlohmann::json& message) { return ask_text(message.dump()); }
    nlohmann::json ask_text(const std::string& message) {
      send(message);
      return nlohmann::json::parse(receive());
    }
    // The code with which the server closes; 0 if it just went away.
    unsigned closed() {
      boost::system::error_code error;
      buffer_.clear();
      while (!error) socket_.read(buffer_, error);
      return error == boost::beast::websocket::error::closed ? socket_.reason().code : 0;
    }
    boost::beast::websocket::stream<tcp::socket>& socket() { return socket_; }

   private:
    boost::asio::io_context context_;
    boost::beast::websocket::stream<tcp::socket> socket_;
    boost::beast::flat_buffer buffer_;
  };

  // A socket for whoever doesn't keep to any protocol.
  class Raw {
   public:
    explicit Raw(std::uint16_t port) : socket_(context_) {
      socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }
    void send(const std::string& bytes) {
      boost::system::error_code ignored;
      boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);
    }
    // Until the server closes.
    std::string receive_all() {
      std::string text;
      char block[4096];
      for (boost::system::error_code error; !error;)
        text.append(block, socket_.read_some(boost::asio::buffer(block), error));
      return text;
    }
    // Of a reply: 403 of "HTTP/1.1 403 Forbidden"; 0 if there is none.
    int receive_status() {
      std::string text;
      char block[4096];
      for (boost::system::error_code error; !error && text.find('\n') == std::string::npos;)
        text.append(block, socket_.read_some(boost::asio::buffer(block), error));
      return text.size() > 12 ? std::atoi(text.c_str() + 9) : 0;
    }
    void close() { socket_.close(); }

   private:
    boost::asio::io_context context_;
    tcp::socket socket_;
  };

 private:
  std::atomic<bool> stop_ = false;
  std::unique_ptr<serve::Server> server_;
  std::jthread thread_;
};

}  // namespace fuselage

#include "load_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

#include "fuselage/core/error.h"

namespace fuselage::experiments {
namespace {

using Clock = std::chrono::steady_clock;

// One masked text frame. The mask is zero, which the protocol allows: it protects proxies, of which there are
// none here.
std::string frame(std::string_view payload) {
  std::string bytes = "\x81";
  if (payload.size() < 126) {
    bytes += static_cast<char>(0x80 | payload.size());
  } else {
    bytes += static_cast<char>(0x80 | 126);
    bytes += static_cast<char>(payload.size() >> 8);
    bytes += static_cast<char>(payload.size() & 0xff);
  }
  bytes.append(4, '\0');
  bytes += payload;
  return bytes;
}

struct Messages {
  std::string reset;
  std::string step;
};

Messages messages_of(const LoadOptions& options) {
  const std::string action = R"("{\"fuse_with_prev\": true, \"tile\": 128, \"retain\": []}")";
  std::string step = R"({"type":"step","command":)" + action + "}";
  if (options.batch > 1) {
    step = R"({"type":"steps","commands":[)";
    for (int i = 0; i < options.batch; ++i) step += (i == 0 ? "" : ",") + action;
    step += "]}";
  }
  return {.reset = frame(fmt::format(R"({{"type":"reset","task":"{}"}})", options.task)),
          .step = frame(step)};
}

class Connection {
 public:
  Connection(const LoadOptions& options, const Messages& messages) : options_(options), messages_(messages) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd_ < 0 || ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("127.0.0.1:{}: cannot be reached: {}", options.port, std::strerror(errno));
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    shake_hands();
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(fd_); }

  int fd() const { return fd_; }
  bool broken() const { return broken_; }

  void begin() { send(messages_.reset, 0); }

  // What has come is read, and answered with the next message.
  void on_readable(LoadResult& result) {
    for (;;) {
      const ssize_t count = ::recv(fd_, block_, sizeof block_, 0);
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) {
        broken_ = true;
        return;
      }
      input_.append(block_, static_cast<std::size_t>(count));
      while (take_frame(result)) {
      }
      if (static_cast<std::size_t>(count) < sizeof block_) return;
    }
  }

 private:
  void shake_hands() {
    const std::string_view request =
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
      fail("the server closed a connection at once");
    std::string reply;
    while (reply.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::recv(fd_, block_, sizeof block_, 0);
      if (count <= 0) fail("the server refused a WebSocket");
      reply.append(block_, static_cast<std::size_t>(count));
    }
    if (!reply.starts_with("HTTP/1.1 101")) fail("the server refused a WebSocket: {}", reply.substr(0, 40));
  }

  void send(const std::string& message, int steps) {
    asked_ = steps;
    sent_ = Clock::now();
    if (::send(fd_, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
      broken_ = true;
  }

  bool take_frame(LoadResult& result) {
    if (input_.size() < 2) return false;
    const auto byte = [this](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(input_[i]));
    };
    std::uint64_t length = byte(1) & 0x7f;
    std::size_t head = 2;
    if (length == 126) {
      if (input_.size() < 4) return false;
      length = byte(2) << 8 | byte(3);
      head = 4;
    } else if (length == 127) {
      if (input_.size() < 10) return false;
      length = 0;
      for (std::size_t i = 2; i < 10; ++i) length = length << 8 | byte(i);
      head = 10;
    }
    if (input_.size() < head + length) return false;
    on_message(std::string_view(input_).substr(head, length), byte(0), result);
    input_.erase(0, head + length);
    return true;
  }

  void on_message(std::string_view message, std::uint64_t first_byte, LoadResult& result) {
    const std::string_view expected = asked_ == 0          ? R"({"type":"reset_result")"
                                      : options_.batch > 1 ? R"({"type":"steps_result")"
                                                           : R"({"type":"step_result")";
    if (first_byte != 0x81 || !message.starts_with(expected)) ++result.errors;
    result.latencies.push_back(std::chrono::duration<float>(Clock::now() - sent_).count());
    result.steps += static_cast<std::uint64_t>(asked_);
    played_ = asked_ == 0 ? 0 : played_ + asked_;
    if (played_ >= options_.ops)
      send(messages_.reset, 0);
    else
      send(messages_.step, options_.batch);
  }

  const LoadOptions& options_;
  const Messages& messages_;
  int fd_ = -1;
  bool broken_ = false;
  int asked_ = 0;   // steps of the message that is out
  int played_ = 0;  // of the episode
  Clock::time_point sent_;
  std::string input_;
  char block_[16384];
};

LoadResult run_share(const LoadOptions& options, int connections) {
  const Messages messages = messages_of(options);
  std::vector<std::unique_ptr<Connection>> all;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (int i = 0; i < connections; ++i) {
    all.push_back(std::make_unique<Connection>(options, messages));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = all.back().get()}};
    ::epoll_ctl(poll, EPOLL_CTL_ADD, all.back()->fd(), &event);
  }
  LoadResult result;
  const auto begun = Clock::now();
  const auto until =
      begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  for (const auto& connection : all) connection->begin();
  std::vector<epoll_event> events(static_cast<std::size_t>(connections));
  std::size_t alive = all.size();
  while (Clock::now() < until && alive > 0) {
    const int ready = ::epoll_wait(poll, events.data(), connections, 100);
    for (int i = 0; i < ready; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      connection.on_readable(result);
      if (!connection.broken()) continue;
      ++result.errors;
      --alive;
      ::epoll_ctl(poll, EPOLL_CTL_DEL, connection.fd(), nullptr);
    }
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  ::close(poll);
  return result;
}

}  // namespace

LoadResult run_load(const LoadOptions& options) {
  const int threads = std::max(1, std::min(options.threads, options.connections));
  std::vector<LoadResult> parts(static_cast<std::size_t>(threads));
  std::vector<std::string> problems(parts.size());
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < parts.size(); ++i)
      workers.emplace_back([&, i] {
        const int share =
            options.connections / threads + (static_cast<int>(i) < options.connections % threads);
        try {
          parts[i] = run_share(options, share);
        } catch (const Error& error) {
          problems[i] = error.what();
        }
      });
  }
  LoadResult whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!problems[i].empty()) fail("{}", problems[i]);
    whole.steps += parts[i].steps;
    whole.errors += parts[i].errors;
    whole.seconds = std::max(whole.seconds, parts[i].seconds);
    whole.latencies.insert(whole.latencies.end(), parts[i].latencies.begin(), parts[i].latencies.end());
  }
  std::sort(whole.latencies.begin(), whole.latencies.end());
  return whole;
}

}  // namespace fuselage::experiments

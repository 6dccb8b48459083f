#include "fuselage/serve/metrics.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace fuselage::serve {
namespace {

struct Described {
  std::string_view name;
  std::string_view help;
};
constexpr std::array<Described, Metrics::counts> described = {{
    {"connections_total", "Connections accepted"},
    {"connections_refused_total", "Connections turned away for lack of room"},
    {"http_requests_total", "HTTP requests"},
    {"websocket_messages_total", "Messages of WebSockets"},
    {"resets_total", "Episodes begun"},
    {"steps_total", "Steps of episodes"},
    {"steps_unread_total", "Steps whose command could not be read"},
    {"hints_total", "Hints given"},
    {"errors_total", "Requests and messages answered with an error"},
    {"timeouts_total", "Connections cut because too little came in time"},
    {"sessions_reaped_total", "Idle sessions freed"},
    {"internal_errors_total", "Errors that are a bug of the server"},
}};
constexpr std::array<Described, 2> gauges = {
    {{"connections", "Connections open now"}, {"sessions", "Sessions live now"}}};
constexpr std::array<double, 10> bounds = {5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};

}  // namespace

void Metrics::took(double seconds) {
  std::size_t at = 0;
  while (at < bounds.size() && seconds > bounds[at]) ++at;
  took_[at].fetch_add(1, std::memory_order_relaxed);
  took_nanoseconds_.fetch_add(static_cast<std::uint64_t>(seconds * 1e9), std::memory_order_relaxed);
}

std::string Metrics::text() const {
  std::string text;
  const auto out = std::back_inserter(text);
  const auto declare = [&](const Described& metric, std::string_view type) {
    fmt::format_to(out, "# HELP fuselage_{0} {1}\n# TYPE fuselage_{0} {2}\n", metric.name, metric.help, type);
  };
  for (std::size_t i = 0; i < described.size(); ++i) {
    declare(described[i], "counter");
    fmt::format_to(out, "fuselage_{} {}\n", described[i].name, counts_[i].load());
  }
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    declare(gauges[i], "gauge");
    fmt::format_to(out, "fuselage_{} {}\n", gauges[i].name, open_[i].load());
  }
  declare({"reply_seconds", "From a whole request to its whole reply"}, "histogram");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    below += took_[i].load();
    fmt::format_to(out, "fuselage_reply_seconds_bucket{{le=\"{}\"}} {}\n", bounds[i], below);
  }
  below += took_[bounds.size()].load();
  fmt::format_to(out, "fuselage_reply_seconds_bucket{{le=\"+Inf\"}} {0}\nfuselage_reply_seconds_count {0}\n",
                 below);
  fmt::format_to(out, "fuselage_reply_seconds_sum {}\n",
                 static_cast<double>(took_nanoseconds_.load()) * 1e-9);
  return text;
}

}  // namespace fuselage::serve

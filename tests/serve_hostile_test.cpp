// Clients that don't keep to the rules: each is answered as it deserves or cut, and nobody else notices.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "served.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ServeHostile : public Served {
 protected:
  // Short times, so that the tests are short.
  void start_impatient() {
    serve::ServerOptions options;
    options.request_seconds = 0.3;
    options.keep_alive_seconds = 0.3;
    options.ping_seconds = 0.5;
    options.most_body_bytes = options.most_message_bytes = 100'000;
    start(options);
  }
  // Of the reply to a request with these lines in its header.
  int status(const std::string& line, const std::string& fields) {
    Raw client(port());
    client.send(line + "\r\n" + fields + "\r\n");
    return client.receive_status();
  }
  int status_of_tasks(const std::string& host) {
    return status("GET /tasks HTTP/1.1", "Host: " + host + "\r\nAuthorization: Bearer secret\r\n");
  }
  // Somebody else, who must not notice anything.
  void expect_well() {
    Ws socket(port());
    EXPECT_EQ(socket.ask({{"type", "reset"}}).at("type"), "reset_result");
    EXPECT_EQ(socket.ask({{"type", "step"}, {"command", "{}"}}).at("type"), "step_result");
  }
};

TEST_F(ServeHostile, slow_loris_is_cut) {
  start_impatient();
  Raw slow(port());
  slow.send("GET / HTTP/1.1\r\nHost: x\r\n");
  for (int i = 0; i < 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    slow.send("X-Header: one more\r\n");
  }
  EXPECT_EQ(slow.receive_all(), "");
  EXPECT_GE(metrics().count(serve::Metrics::Count::timeouts), 1U);
  expect_well();
}

TEST_F(ServeHostile, silent_connections_are_cut_and_half_open_ones_do_no_harm) {
  start_impatient();
  std::vector<std::unique_ptr<Raw>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<Raw>(port()));
  expect_well();
  for (const auto& one : silent) EXPECT_EQ(one->receive_all(), "");
  Raw half(port());
  half.send("POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  half.close();
  expect_well();
}

TEST_F(ServeHostile, a_gigabyte_that_is_announced_is_not_waited_for) {
  start_impatient();
  Raw client(port());
  client.send("POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n");
  EXPECT_THAT(client.receive_all(), HasSubstr("413"));
  expect_well();
}

TEST_F(ServeHostile, long_headers_and_no_http_at_all_are_refused) {
  start_impatient();
  Raw long_header(port());
  long_header.send("GET / HTTP/1.1\r\nX: " + std::string(50'000, 'a'));
  EXPECT_THAT(long_header.receive_all(), HasSubstr("431"));
  Raw garbage(port());
  garbage.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n");
  EXPECT_THAT(garbage.receive_all(), HasSubstr("400"));
  expect_well();
}

TEST_F(ServeHostile, large_and_endless_messages_end_the_connection) {
  start_impatient();
  Ws large(port());
  boost::system::error_code error;
  large.socket().write(boost::asio::buffer(std::string(200'000, 'a')), error);
  unsigned code = large.closed();
  EXPECT_TRUE(code == 1009 || code == 0) << code << ": cut, or told in time";
  Ws fragments(port());
  error = {};
  const std::string piece(1000, ' ');
  for (int i = 0; i < 1000 && !error; ++i)
    fragments.socket().write_some(false, boost::asio::buffer(piece), error);
  code = fragments.closed();
  EXPECT_TRUE(code == 1009 || code == 0) << code;
  expect_well();
}

TEST_F(ServeHostile, text_that_is_no_utf8_ends_the_connection) {
  start_impatient();
  Ws socket(port());
  socket.send("{\"type\": \"\xff\xfe\"}");
  EXPECT_EQ(socket.closed(), 1007U);
  expect_well();
}

TEST_F(ServeHostile, deep_json_is_refused) {
  start_impatient();
  Ws socket(port());
  const std::string deep =
      "{\"type\": \"reset\", \"graph\": " + std::string(40'000, '[') + std::string(40'000, ']') + "}";
  EXPECT_EQ(socket.ask_text(deep).at("code"), "INVALID_JSON");
  EXPECT_EQ(socket.ask({{"type", "reset"}}).at("type"), "reset_result");
  Http http(port());
  EXPECT_EQ(http.request("POST", "/reset", deep).status, 400);
}

TEST_F(ServeHostile, a_peer_that_answers_no_ping_is_dead) {
  start_impatient();
  Raw client(port());
  client.send(
      "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
  EXPECT_THAT(client.receive_all(), HasSubstr("101 Switching")) << "and then the end, after a ping in vain";
  EXPECT_GE(metrics().count(serve::Metrics::Count::timeouts), 1U);
}

TEST_F(ServeHostile, ids_are_only_looked_up) {
  start();
  for (const std::string& target :
       {std::string("/state/../../etc/passwd"), std::string("/state/%2e%2e%2fetc"), std::string("/state/"),
        std::string("/step/x/y"), std::string("//"), std::string("/web/../run"), std::string("/session"),
        "/state/" + std::string(10'000, 'a')})
    EXPECT_EQ(Http(port()).request("GET", target).status, 404) << target.substr(0, 40);
  EXPECT_EQ(Http(port()).request("GET", "/state/\x01").status, 400) << "no HTTP";
}

TEST_F(ServeHostile, steps_after_the_end_change_nothing) {
  start();
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"task", "task1_chain"}});
  json last;
  for (int i = 0; i < 8; ++i) last = socket.ask({{"type", "step"}, {"command", "{}"}});
  EXPECT_EQ(last.at("done"), true);
  const json after = socket.ask({{"type", "step"}, {"command", "{}"}});
  EXPECT_EQ(after.at("done"), true);
  EXPECT_EQ(after.at("reward"), 0);
  EXPECT_EQ(after.at("observation"), last.at("observation"));
}

TEST_F(ServeHostile, steps_of_one_session_at_once_are_all_counted) {
  serve::ServerOptions options;
  options.threads = 2;
  start(options);
  Http http(port());
  const std::string id =
      http.post("/reset", {{"random", true}, {"num_ops", 200}, {"difficulty", "easy"}, {"seed", 1}})
          .at("session_id");
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i)
      clients.emplace_back([&] {
        Http own(port());
        for (int k = 0; k < 25; ++k) own.post("/step/" + id, {{"command", "{}"}});
      });
  }
  EXPECT_EQ(http.get("/state/" + id).at("step"), 100);
}

TEST_F(ServeHostile, idle_sessions_are_freed) {
  serve::ServerOptions options;
  options.hub.idle_seconds = 0.5;
  start(options);
  Http http(port());
  const std::string id = http.post("/reset", json::object()).at("session_id");
  Ws socket(port());
  socket.ask({{"type", "reset"}});
  EXPECT_EQ(metrics().open(serve::Metrics::Open::sessions), 2);
  EXPECT_EQ(socket.closed(), 1008U);
  for (int i = 0; i < 50 && metrics().open(serve::Metrics::Open::sessions) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(metrics().open(serve::Metrics::Open::sessions), 0);
  EXPECT_EQ(metrics().count(serve::Metrics::Count::reaped), 2U);
  Http later(port());
  EXPECT_EQ(later.request("GET", "/state/" + id).status, 404);
}

TEST_F(ServeHostile, one_address_has_so_many_connections) {
  serve::ServerOptions options;
  options.most_connections_a_client = 3;
  start(options);
  Ws a(port()), b(port()), c(port());
  EXPECT_ANY_THROW(Ws(port(), "/ws"));
  EXPECT_EQ(metrics().count(serve::Metrics::Count::refused), 1U);
  EXPECT_EQ(a.ask({{"type", "reset"}}).at("type"), "reset_result");
}

// Every node reads the eight before it, and half of them fit: too many sets of residents for a quick answer.
json dense_graph(int ops) {
  json nodes = json::array();
  for (int id = 0; id < ops; ++id) {
    json inputs = json::array();
    for (int back = 1; back <= std::min(id, 8); ++back) inputs.push_back(id - back);
    nodes.push_back({{"id", id}, {"op", "add"}, {"shape", {64, 64}}, {"inputs", inputs}});
  }
  return {{"nodes", nodes},
          {"hardware",
           {{"fast_mem_capacity", 8 * 16384},
            {"slow_mem_bandwidth", 1},
            {"kernel_launch_cost", 100},
            {"max_fusion_depth", 4}}}};
}

TEST_F(ServeHostile, a_hint_that_takes_too_long_is_given_up) {
  serve::ServerOptions options;
  options.hub.oracle = true;
  start(options);
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"graph", dense_graph(120)}});
  for (int i = 0; i < 20; ++i) socket.ask({{"type", "step"}, {"command", "{}"}});
  EXPECT_THAT(socket.ask({{"type", "hint"}}).at("error").get<std::string>(),
              HasSubstr("longer than is allowed"));
  socket.ask({{"type", "reset"}, {"graph", dense_graph(129)}});
  EXPECT_THAT(socket.ask({{"type", "hint"}}).at("error").get<std::string>(), HasSubstr("at most 128"));
  EXPECT_EQ(socket.ask({{"type", "step"}, {"command", "{}"}}).at("type"), "step_result");
}

TEST_F(ServeHostile, a_small_message_gets_no_huge_reply) {
  serve::ServerOptions options;
  options.hub.most_reply_bytes = 100'000;
  start(options);
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"graph", dense_graph(100)}, {"lookahead", 100}});
  const json commands(std::vector<std::string>(50, "{}"));
  const json reply = socket.ask({{"type", "steps"}, {"commands", commands}, {"observations", true}});
  EXPECT_THAT(reply.at("error").get<std::string>(), HasSubstr("bytes of reply"));
  EXPECT_EQ(socket.ask({{"type", "state"}}).at("step"), 0) << "no step was taken";
}

TEST_F(ServeHostile, who_does_not_read_is_cut) {
  start_impatient();
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"task", "task4_mixed"}});
  // Replies that nobody reads fill the buffers of both ends; then a write hangs.
  const json commands(std::vector<std::string>(24, "{}"));
  const std::string message = json{{"type", "steps"}, {"commands", commands}, {"observations", true}}.dump();
  boost::system::error_code error;
  socket.socket().next_layer().non_blocking(true);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  while (metrics().count(serve::Metrics::Count::timeouts) == 0 && std::chrono::steady_clock::now() < until) {
    socket.socket().write(boost::asio::buffer(message), error);
    if (error) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(metrics().count(serve::Metrics::Count::timeouts), 1U);
  expect_well();
}

TEST_F(ServeHostile, resets_and_steps_of_one_address_at_once_never_mix) {
  serve::ServerOptions options;
  options.threads = 2;
  start(options);
  std::atomic<bool> over = false;
  const std::jthread stepping([&] {
    Http other(port());
    while (!over) other.request("POST", "/step", R"({"command": "{}"})");
  });
  Http http(port());
  for (int i = 0; i < 300; ++i) {
    const json begun = http.post("/reset", {{"task", "task5_adversarial"}});
    ASSERT_EQ(json::parse(begun.at("observation").get<std::string>()).at("step"), 0);
  }
  over = true;
}

constexpr const char* upgrade =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n";

// What a page of evil.example can have its reader's browser send, whatever address the name stands for, and
// what only looks as if it were meant for this server.
constexpr const char* foreign_names[] = {"Host: evil.example\r\nOrigin: http://evil.example\r\n",
                                         "Host: evil.example:7860\r\n",
                                         "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n",
                                         "Host: localhost\r\nOrigin: null\r\n",
                                         "Host: localhost\r\nHost: evil.example\r\n",
                                         "Host: localhost@evil.example\r\n",
                                         "Host: localhost.evil.example\r\n",
                                         "Host: 10.0.0.1\r\n",
                                         "Host:\r\n",
                                         ""};

TEST_F(ServeHostile, pages_of_other_sites_are_turned_away) {
  start();
  for (const char* names : foreign_names)
    for (const char* line :
         {"GET / HTTP/1.1", "GET /health HTTP/1.1", "GET /web HTTP/1.1", "GET /metrics HTTP/1.1",
          "GET /tasks HTTP/1.0", "POST /reset HTTP/1.1", "POST /step HTTP/1.0", "POST /mcp HTTP/1.1",
          "OPTIONS /reset HTTP/1.1", "OPTIONS * HTTP/1.1", "HEAD /tasks HTTP/1.1",
          "DELETE /session/x HTTP/1.1", "GET /nothing HTTP/1.1", "GET http://localhost/tasks HTTP/1.1",
          "GET /ws HTTP/1.1"})
      for (const char* more : {"", upgrade})
        EXPECT_EQ(status(line, std::string(names) + more), 403) << line << "\n" << names << more;
  EXPECT_EQ(status("GET http://evil.example/tasks HTTP/1.1", "Host: localhost\r\n"), 403);
  EXPECT_EQ(metrics().count(serve::Metrics::Count::resets), 0U);
}

TEST_F(ServeHostile, its_own_pages_and_clients_come_in) {
  serve::ServerOptions options;
  options.allowed_hosts = {"game.example"};
  start(options);
  for (const char* names :
       {"Host: localhost\r\n", "Host: 127.0.0.1:7860\r\nOrigin: http://127.0.0.1:7860\r\n",
        "HOST: [::1]:7860\r\n", "Host: LOCALHOST.\r\nOrigin: http://localhost:3000\r\n",
        "Host: game.example\r\nOrigin: https://game.example\r\n"}) {
    EXPECT_EQ(status("GET /tasks HTTP/1.1", names), 200) << names;
    EXPECT_EQ(status("GET /tasks HTTP/1.0", names), 200) << names;
    EXPECT_EQ(status("GET http://localhost:7860/tasks?a HTTP/1.1", names), 200) << names;
    EXPECT_EQ(status("GET /ws HTTP/1.1", std::string(names) + upgrade), 101) << names;
  }
}

TEST_F(ServeHostile, a_token_is_no_reason_to_answer_a_foreign_name_on_loopback) {
  serve::ServerOptions options;
  options.token = "secret";
  start(options);
  for (const char* fields :
       {"Host: evil.example\r\n", "Host: evil.example\r\nAuthorization: Bearer secret\r\n"})
    EXPECT_EQ(status("GET /health HTTP/1.1", fields), 403);
  EXPECT_EQ(status("GET http://localhost/health HTTP/1.1", "Host: localhost\r\n"), 200);
  EXPECT_EQ(status("GET http://localhost/tasks HTTP/1.1", "Host: localhost\r\n"), 401);
}

TEST_F(ServeHostile, beyond_loopback_only_addresses_are_its_own) {
  serve::ServerOptions options;
  options.host = "0.0.0.0";
  start(options);
  EXPECT_EQ(status_of_tasks("192.0.2.1:7860"), 200);
  EXPECT_EQ(status_of_tasks("trainer.lan"), 403);
}

TEST_F(ServeHostile, beyond_loopback_a_token_opens_every_name) {
  serve::ServerOptions options;
  options.host = "0.0.0.0";
  options.token = "secret";
  start(options);
  EXPECT_EQ(status_of_tasks("trainer.lan"), 200);
  EXPECT_EQ(status_of_tasks("localhost@evil.example"), 403);
}

}  // namespace
}  // namespace fuselage

// What clients may ask of the server, in both dialects.
#include <gmock/gmock.h>

#include "fuselage/oracle/solve.h"
#include "fuselage/walk/tasks.h"
#include "served.h"

namespace fuselage {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* fuse = R"({"fuse_with_prev": true, "tile": 128, "retain": []})";

class Serve : public Served {};

TEST_F(Serve, says_what_it_is) {
  start();
  Http http(port());
  const json root = http.get("/");
  EXPECT_EQ(root.at("status"), "ok");
  EXPECT_EQ(root.at("version"), "test");
  EXPECT_EQ(http.get("/health").at("status"), "healthy");
  EXPECT_EQ(http.get("/tasks").at("task4_mixed").at("num_ops"), 24);
  EXPECT_EQ(http.get("/tasks").at("task3_matmul").at("family"), "grid");
  EXPECT_EQ(http.get("/metadata").at("name"), "fuselage");
  for (const char* part : {"action", "observation", "state"}) EXPECT_TRUE(http.get("/schema").contains(part));
  const json openapi = http.get("/openapi.json");
  EXPECT_EQ(openapi.at("info").at("version"), "test");
  EXPECT_TRUE(openapi.at("paths").contains("/step/{session_id}"));
  EXPECT_EQ(openapi.at("components").at("securitySchemes").at("bearer").at("scheme"), "bearer");
  EXPECT_THAT(http.request("GET", "/metrics").body, HasSubstr("fuselage_http_requests_total"));
  EXPECT_EQ(http.request("HEAD", "/").body, "");
  EXPECT_THAT(http.request("GET", "/web").body, HasSubstr("<!doctype html>"));
}

TEST_F(Serve, plays_the_constant_action_by_http) {
  start();
  Http http(port());
  const std::string id = http.post("/reset", {{"task", "task4_mixed"}}).at("session_id");
  json reply;
  for (int i = 0; i < 24; ++i) {
    reply = http.post("/step/" + id, {{"command", fuse}});
    EXPECT_EQ(reply.at("done"), i == 23);
    EXPECT_EQ(reply.contains("score"), i == 23);
  }
  EXPECT_NEAR(reply.at("score").get<double>(), 0.670, 5e-4);
  EXPECT_EQ(http.request("POST", "/step/" + id, json{{"command", fuse}}.dump()).status, 404)
      << "freed at its end";
}

TEST_F(Serve, unreadable_actions_use_no_step) {
  start();
  Http http(port());
  const std::string id = http.post("/reset", {{"task", "task1_chain"}}).at("session_id");
  const json reply = http.post("/step/" + id, {{"command", "[1]"}});
  EXPECT_EQ(reply.at("reward"), -0.1);
  EXPECT_EQ(reply.at("done"), false);
  EXPECT_EQ(reply.at("info").at("error"), "Parse error");
  EXPECT_EQ(http.get("/state/" + id).at("step"), 0);
}

TEST_F(Serve, speaks_openenv_by_http) {
  start();
  Http http(port());
  const json begun = http.post("/reset", {{"episode_id", "mine"}, {"seed", 5}, {"random", true}});
  EXPECT_TRUE(begun.at("observation").at("text").is_string());
  const json step =
      http.post("/step", {{"action", {{"fuse_with_prev", true}, {"tile", 64}, {"retain", json::array()}}}});
  EXPECT_TRUE(step.at("observation").is_object());
  const json state = http.get("/state");
  EXPECT_EQ(state.at("step_count"), 1);
  EXPECT_EQ(state.at("seed"), 5);
  const Reply bad = http.request("POST", "/step", R"({"action": {"colour": 3}})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr("colour"));
}

TEST_F(Serve, a_seed_draws_the_same_graph_again) {
  start();
  Ws socket(port());
  const json wanted = {
      {"type", "reset"}, {"random", true}, {"num_ops", 20}, {"difficulty", "hard"}, {"seed", 11}};
  const json first = socket.ask(wanted);
  EXPECT_EQ(socket.ask(wanted).at("observation"), first.at("observation"));
  json other = wanted;
  other["seed"] = 12;
  EXPECT_NE(socket.ask(other).at("observation"), first.at("observation"));
  // A graph that the server chose can be had again by its seed.
  const json chosen = socket.ask({{"type", "reset"}, {"random", true}});
  const json again =
      socket.ask({{"type", "reset"}, {"random", true}, {"seed", chosen.at("metadata").at("seed")}});
  EXPECT_EQ(again.at("observation"), chosen.at("observation"));
}

TEST_F(Serve, the_first_message_decides_the_dialect) {
  start();
  Ws own(port());
  EXPECT_EQ(own.ask({{"type", "reset"}}).at("type"), "reset_result");
  Ws openenv(port());
  EXPECT_EQ(openenv.ask({{"type", "reset"}, {"data", json::object()}}).at("type"), "observation");
  EXPECT_EQ(openenv.ask({{"type", "state"}}).at("data").at("step_count"), 0);
  Ws told(port(), "/ws?dialect=openenv");
  EXPECT_EQ(told.ask({{"type", "reset"}}).at("type"), "observation");
  told.send(R"({"type": "close"})");
  EXPECT_EQ(told.closed(), 1000U);
}

TEST_F(Serve, openenv_errors_have_their_codes) {
  start();
  Ws socket(port(), "/ws?dialect=openenv");
  const auto code = [&](const std::string& text) { return socket.ask_text(text).at("data").at("code"); };
  EXPECT_EQ(code("{"), "INVALID_JSON");
  EXPECT_EQ(code(R"({"type": "dance"})"), "UNKNOWN_TYPE");
  EXPECT_EQ(code(R"({"type": "step", "data": {}})"), "SESSION_ERROR");
  EXPECT_EQ(code(R"({"type": "reset", "data": {"task": "none"}})"), "VALIDATION_ERROR");
  socket.ask({{"type", "reset"}, {"data", json::object()}});
  EXPECT_EQ(code(R"({"type": "step", "data": {"colour": 1}})"), "VALIDATION_ERROR");
  EXPECT_EQ(code(R"({"type": "hint"})"), "EXECUTION_ERROR");
  EXPECT_EQ(socket.ask({{"type", "state"}}).at("type"), "state") << "the connection goes on";
}

TEST_F(Serve, hints_lead_to_the_optimum) {
  serve::ServerOptions options;
  options.hub.oracle = true;
  start(options);
  Ws socket(port());
  const Workload task = walk::make_task(*walk::find_task("task5_adversarial"));
  const double optimum = oracle::solve(task, {.rules = walk::Rules::seed_honest}).latency;
  socket.ask({{"type", "reset"}, {"task", "task5_adversarial"}, {"rules", "seed-honest"}});
  // One bad step first: the regret stays what it is from there on.
  socket.ask({{"type", "step"}, {"command", R"({"tile": 32})"}});
  socket.ask({{"type", "step"}, {"command", R"({"tile": 32})"}});
  json hint = socket.ask({{"type", "hint"}});
  EXPECT_EQ(hint.at("proven"), true);
  EXPECT_NEAR(hint.at("optimum").get<double>(), optimum, 1e-9 * optimum);
  const double regret = hint.at("regret");
  EXPECT_GT(regret, 0);
  json reply;
  do {
    hint = socket.ask({{"type", "hint"}});
    EXPECT_NEAR(hint.at("regret").get<double>(), regret, 1e-6 * optimum);
    reply = socket.ask({{"type", "step"}, {"command", hint.at("optimal").at(0).dump()}});
  } while (!reply.at("done").get<bool>());
  EXPECT_NEAR(reply.at("info").at("total_latency").get<double>(), optimum + regret, 1e-6 * optimum);
}

TEST_F(Serve, hints_lead_to_the_best_known_of_grid_problems) {
  serve::ServerOptions options;
  options.hub.oracle = true;
  start(options);
  Ws socket(port());
  for (const auto& [task, latency] :
       {std::pair("task2_diamond", 6600.0), std::pair("task3_matmul", 8553.6)}) {
    socket.ask({{"type", "reset"}, {"task", task}, {"rules", "fusionops-honest"}});
    json reply;
    do {
      const json hint = socket.ask({{"type", "hint"}});
      ASSERT_EQ(hint.at("type"), "hint_result") << hint;
      reply = socket.ask({{"type", "step"}, {"command", hint.at("optimal").at(0)}});
      EXPECT_EQ(reply.at("info").at("error"), nullptr);
    } while (!reply.at("done").get<bool>());
    EXPECT_NEAR(reply.at("info").at("total_latency").get<double>(), latency, 1e-6) << task;
  }
}

TEST_F(Serve, clones_go_their_own_way) {
  start();
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"task", "task2_residual"}});
  socket.ask({{"type", "step"}, {"command", fuse}});
  const json number = socket.ask({{"type", "clone"}}).at("session");
  const json a = socket.ask({{"type", "step"}, {"command", fuse}, {"session", number}});
  EXPECT_EQ(socket.ask({{"type", "state"}}).at("step"), 1);
  EXPECT_EQ(socket.ask({{"type", "step"}, {"command", fuse}}).at("observation"), a.at("observation"));
  EXPECT_EQ(socket.ask({{"type", "close"}, {"session", number}}).at("session"), number);
  EXPECT_EQ(socket.ask({{"type", "state"}, {"session", number}}).at("code"), "SESSION_ERROR");
  Http http(port());
  const std::string id = http.post("/reset", json::object()).at("session_id");
  http.post("/step/" + id, {{"command", fuse}});
  const std::string copy = http.post("/clone/" + id, json::object()).at("session_id");
  http.post("/step/" + copy, {{"command", fuse}});
  EXPECT_EQ(http.get("/state/" + id).at("step"), 1);
  EXPECT_EQ(http.get("/state/" + copy).at("step"), 2);
  EXPECT_EQ(http.request("DELETE", "/session/" + copy).status, 200);
  EXPECT_EQ(http.request("GET", "/state/" + copy).status, 404);
}

TEST_F(Serve, batches_are_the_same_as_steps) {
  start();
  Ws one(port()), many(port());
  one.ask({{"type", "reset"}, {"task", "task3_attention"}});
  many.ask({{"type", "reset"}, {"task", "task3_attention"}});
  json last;
  double reward = 0;
  for (int i = 0; i < 5; ++i) {
    last = one.ask({{"type", "step"}, {"command", fuse}});
    reward += last.at("reward").get<double>();
  }
  const json batch = many.ask({{"type", "steps"}, {"commands", json::array({fuse, fuse, fuse, fuse, fuse})}});
  double sum = 0;
  for (const json& result : batch.at("results")) sum += result.at("reward").get<double>();
  EXPECT_EQ(sum, reward);
  EXPECT_EQ(batch.at("results").back().at("observation"), last.at("observation"));
  EXPECT_EQ(many.ask({{"type", "steps"}, {"commands", json::array()}}).at("code"), "VALIDATION_ERROR");
}

TEST_F(Serve, options_of_the_environment_are_off_unless_asked_for) {
  start();
  Ws socket(port());
  const auto ahead = [&](json fields) {
    fields["type"] = "reset";
    socket.ask(fields);
    const json reply = socket.ask({{"type", "step"}, {"command", R"({"retain": [0]})"}});
    return std::pair(json::parse(reply.at("observation").get<std::string>()).at("lookahead").size(),
                     reply.at("reward").get<double>());
  };
  const auto usual = ahead({{"task", "task4_mixed"}});
  EXPECT_EQ(usual.first, 2U);
  EXPECT_EQ(ahead({{"task", "task4_mixed"}, {"lookahead", 7}}).first, 7U);
  socket.ask({{"type", "reset"}, {"task", "task4_mixed"}, {"retention_cost", 1}});
  socket.ask({{"type", "step"}, {"command", R"({"retain": [0]})"}});
  const double with_cost = socket.ask({{"type", "step"}, {"command", "{}"}}).at("reward");
  socket.ask({{"type", "reset"}, {"task", "task4_mixed"}});
  socket.ask({{"type", "step"}, {"command", R"({"retain": [0]})"}});
  const double without = socket.ask({{"type", "step"}, {"command", "{}"}}).at("reward");
  EXPECT_NEAR(without - with_cost, 262144.0 / 655360, 1e-12) << "a tensor of 256 KiB in 640 KiB";
}

TEST_F(Serve, the_state_lists_the_kernels_that_ran) {
  start();
  Ws socket(port());
  socket.ask({{"type", "reset"}, {"task", "task4_mixed"}});
  for (int i = 0; i < 24; ++i) socket.ask({{"type", "step"}, {"command", i % 3 ? fuse : R"({"tile": 64})"}});
  const json state = socket.ask({{"type", "state"}});
  double total = 0;
  std::size_t nodes = 0;
  for (const json& group : state.at("fusion_groups")) {
    total += group.at("latency").get<double>();
    nodes += group.at("node_ids").size();
  }
  EXPECT_EQ(nodes, 24U);
  EXPECT_NEAR(total, state.at("total_latency").get<double>(), 1e-6);
}

TEST_F(Serve, has_room_for_so_many_sessions) {
  serve::ServerOptions options;
  options.hub.capacity = 2;
  start(options);
  Ws a(port()), b(port()), c(port(), "/ws?dialect=openenv");
  a.ask({{"type", "reset"}});
  b.ask({{"type", "reset"}});
  EXPECT_EQ(c.ask({{"type", "reset"}}).at("data").at("code"), "CAPACITY_REACHED");
  Http http(port());
  EXPECT_EQ(http.request("POST", "/reset", "{}").status, 503);
  a.send(R"({"type": "close"})");
  a.closed();
  // The session goes with its connection, a moment later.
  json reply = json::object();
  for (int i = 0; i < 100 && reply.value("type", "") != "observation"; ++i)
    reply = c.ask({{"type", "reset"}});
  EXPECT_EQ(reply.at("type"), "observation");
}

TEST_F(Serve, asks_for_its_token) {
  serve::ServerOptions options;
  options.token = "secret";
  start(options);
  Http http(port());
  EXPECT_EQ(http.request("GET", "/tasks").status, 401);
  EXPECT_EQ(http.request("GET", "/tasks", "", "guess!").status, 401);
  EXPECT_EQ(http.request("GET", "/tasks", "", "secret").status, 200);
  EXPECT_EQ(http.request("GET", "/health").status, 200);
  EXPECT_ANY_THROW(Ws(port(), "/ws"));
  Ws socket(port(), "/ws?token=secret");
  EXPECT_EQ(socket.ask({{"type", "reset"}}).at("type"), "reset_result");
}

TEST_F(Serve, speaks_the_model_context_protocol) {
  serve::ServerOptions options;
  options.hub.oracle = true;
  start(options);
  Http http(port());
  int id = 0;
  const auto call = [&](const std::string& method, const json& params) {
    return http.post("/mcp", {{"jsonrpc", "2.0"}, {"id", ++id}, {"method", method}, {"params", params}});
  };
  const auto tool = [&](const std::string& name, const json& arguments) {
    const json result = call("tools/call", {{"name", name}, {"arguments", arguments}}).at("result");
    EXPECT_EQ(result.at("isError"), false) << result;
    return json::parse(result.at("content").at(0).at("text").get<std::string>());
  };
  EXPECT_EQ(call("initialize", json::object()).at("result").at("serverInfo").at("name"), "fuselage");
  EXPECT_EQ(call("tools/list", json::object()).at("result").at("tools").size(), 4U);
  const std::string session = tool("reset", {{"task", "task1_chain"}}).at("session_id");
  const json step =
      tool("schedule",
           {{"session_id", session}, {"fuse_with_prev", false}, {"tile", 128}, {"retain", json::array()}});
  EXPECT_EQ(step.at("done"), false);
  EXPECT_EQ(tool("state", json::object()).at("step"), 1);
  EXPECT_GT(tool("hint", {{"session_id", session}}).at("optimal").size(), 0U);
  EXPECT_EQ(call("dance", json::object()).at("error").at("code"), -32601);
  EXPECT_EQ(http.request("POST", "/mcp", "{").json().at("error").at("code"), -32700);
  EXPECT_EQ(
      http.request("POST", "/mcp", R"({"jsonrpc": "2.0", "method": "notifications/initialized"})").status,
      202);
  const json bad = call("tools/call", {{"name", "state"}, {"arguments", {{"session_id", "none"}}}});
  EXPECT_EQ(bad.at("result").at("isError"), true);
}

TEST_F(Serve, a_websocket_finds_its_own_sessions_by_their_ids_only) {
  start();
  Ws socket(port(), "/ws?dialect=openenv");
  Ws other(port(), "/ws?dialect=openenv");
  const auto tool = [](Ws& ws, const std::string& name, const json& arguments) {
    return ws
        .ask({{"type", "mcp"},
              {"data",
               {{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "tools/call"},
                {"params", {{"name", name}, {"arguments", arguments}}}}}})
        .at("data")
        .at("result");
  };
  const auto text = [](const json& result) {
    return result.at("content").at(0).at("text").get<std::string>();
  };
  const std::string own =
      json::parse(text(tool(socket, "reset", {{"task", "task1_chain"}}))).at("session_id");
  const std::string foreign =
      json::parse(text(tool(other, "reset", {{"task", "task4_mixed"}}))).at("session_id");
  EXPECT_EQ(json::parse(text(tool(socket, "state", {{"session_id", own}}))).at("session_id"), own);
  const json refused = tool(socket, "state", {{"session_id", foreign}});
  EXPECT_EQ(refused.at("isError"), true);
  EXPECT_THAT(text(refused), testing::HasSubstr("is none of this connection's"));
}

TEST_F(Serve, a_clone_is_begun_anew_by_its_number_in_both_dialects) {
  start();
  for (const bool openenv : {false, true}) {
    Ws socket(port(), openenv ? "/ws?dialect=openenv" : "/ws?dialect=own");
    const auto data = [&](json reply) { return openenv ? reply.at("data") : reply; };
    socket.ask({{"type", "reset"}, {"data", {{"task", "task1_chain"}}}, {"task", "task1_chain"}});
    socket.ask({{"type", "step"}, {"data", {{"tile", 64}}}, {"command", "{}"}});
    const json number = data(socket.ask({{"type", "clone"}})).at("session");
    socket.ask({{"type", "reset"}, {"session", number}, {"data", json::object()}});
    EXPECT_EQ(data(socket.ask({{"type", "state"}})).at("step"), 1);
    EXPECT_EQ(data(socket.ask({{"type", "state"}, {"session", number}})).at("step"), 0);
    EXPECT_EQ(data(socket.ask({{"type", "close"}, {"session", 99}})).at("code"), "SESSION_ERROR");
  }
}

TEST_F(Serve, tells_clients_when_it_stops) {
  start();
  Ws socket(port());
  socket.ask({{"type", "reset"}});
  unsigned code = 0;
  {
    const std::jthread reading([&] { code = socket.closed(); });
    stop();
  }
  EXPECT_EQ(code, 1001U);
}

}  // namespace
}  // namespace fuselage

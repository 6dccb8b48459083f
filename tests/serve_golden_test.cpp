// Recorded episodes of the public environments, played over the network: observation bytes, rewards, ends and
// scores must be what was recorded, by HTTP and by WebSocket.

#include <filesystem>
#include <fstream>
#include <vector>

#include "served.h"

namespace fuselage {
namespace {

using nlohmann::json;

std::vector<json> rows_of(const std::string& full, const std::string& small) {
  const std::string beside = FUSELAGE_SOURCE_DIR "/../shared/golden/" + full;
  std::ifstream file(std::filesystem::exists(beside) ? beside : FUSELAGE_SOURCE_DIR "/tests/golden/" + small);
  std::vector<json> rows;
  for (std::string line; std::getline(file, line) && rows.size() < 150;) rows.push_back(json::parse(line));
  return rows;
}

struct Step {
  json command = {};
  double reward = 0;
  bool done = false;
  std::string observation = {};  // after it; empty if it isn't recorded
};
struct Recorded {
  json reset = {};
  std::string observation = {};
  std::vector<Step> steps = {};
  double score = 0;
};

Recorded walk_episode(const json& row) {
  Recorded recorded{
      .reset = {{"graph", row.at("graph")}, {"max_steps", row.at("max_steps")}, {"rules", "seed"}},
      .score = row.at("final_score")};
  const json observations = row.value("observations", json::array());
  if (!observations.empty()) recorded.observation = observations.at(0);
  for (std::size_t i = 0; i < row.at("steps").size(); ++i) {
    const json& step = row.at("steps").at(i);
    recorded.steps.push_back(
        {.command = row.at("actions").at(i).dump(),
         .reward = step.at("reward"),
         .done = step.at("done"),
         .observation = i + 1 < observations.size() ? observations.at(i + 1) : json("")});
  }
  return recorded;
}

Recorded grid_episode(const json& row) {
  Recorded recorded{.reset = {{"graph", row.at("problem")},
                              {"max_steps", row.at("max_steps")},
                              {"allow_recomputation", row.at("allow_recomputation")},
                              {"family", "grid"},
                              {"rules", "fusionops"}},
                    .score = row.at("final").at("score")};
  for (const json& step : row.at("steps"))
    recorded.steps.push_back(
        {.command = step.at("command"), .reward = step.at("reward"), .done = step.at("done")});
  return recorded;
}

std::vector<Recorded> all_episodes() {
  std::vector<Recorded> all;
  for (const json& row : rows_of("walk/episodes.jsonl", "episodes_small.jsonl"))
    all.push_back(walk_episode(row));
  for (const json& row : rows_of("grid/fusionops.jsonl", "fusionops_small.jsonl"))
    all.push_back(grid_episode(row));
  return all;
}

class ServeGolden : public Served {
 protected:
  template <class Reset, class Take>
  void play(const Recorded& recorded, const Reset& reset, const Take& take) {
    const json begun = reset(recorded.reset);
    if (!recorded.observation.empty()) {
      EXPECT_EQ(begun.at("observation"), recorded.observation);
    }
    EXPECT_EQ(begun.at("done"), false);
    EXPECT_EQ(begun.at("reward"), 0);
    for (const Step& step : recorded.steps) {
      const json reply = take(step.command);
      ASSERT_EQ(reply.at("reward").get<double>(), step.reward) << recorded.reset.dump().substr(0, 200);
      ASSERT_EQ(reply.at("done"), step.done);
      if (!step.observation.empty()) {
        ASSERT_EQ(reply.at("observation"), step.observation);
      }
      if (!step.done) continue;
      ASSERT_EQ(reply.at("score").get<double>(), recorded.score);
      return;
    }
  }
};

TEST_F(ServeGolden, http_is_the_environment_to_the_byte) {
  start();
  Http http(port());
  std::string id;
  const std::vector<Recorded> episodes = all_episodes();
  ASSERT_GE(episodes.size(), 70U);
  for (const Recorded& recorded : episodes) {
    play(
        recorded,
        [&](const json& fields) {
          const json reply = http.post("/reset", fields);
          id = reply.at("session_id");
          return reply;
        },
        [&](const json& command) {
          return http.post("/step/" + id, {{"command", command}});
        });
    if (HasFatalFailure()) return;
  }
}

TEST_F(ServeGolden, websocket_is_the_environment_to_the_byte) {
  start();
  Ws socket(port());
  for (const Recorded& recorded : all_episodes()) {
    play(
        recorded,
        [&](json fields) {
          fields["type"] = "reset";
          const json reply = socket.ask(fields);
          EXPECT_EQ(reply.at("type"), "reset_result");
          return reply;
        },
        [&](const json& command) {
          return socket.ask({{"type", "step"}, {"command", command}});
        });
    if (HasFatalFailure()) return;
  }
}

TEST_F(ServeGolden, openenv_is_the_environment_to_the_byte) {
  start();
  Ws socket(port());
  const auto flat = [](json reply) {
    EXPECT_EQ(reply.at("type"), "observation");
    json data = reply.at("data");
    data["observation"] = json(data.at("observation").at("text"));
    if (data.at("metadata").contains("score")) data["score"] = data.at("metadata").at("score");
    return data;
  };
  for (const Recorded& recorded : all_episodes()) {
    play(
        recorded,
        [&](const json& fields) {
          return flat(socket.ask({{"type", "reset"}, {"data", fields}}));
        },
        [&](const json& command) {
          return flat(socket.ask({{"type", "step"}, {"data", {{"command", command}}}}));
        });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace fuselage

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fuselage/core/error.h"
#include "fuselage/oracle/store.h"
#include "fuselage/walk/answer.h"
#include "fuselage/walk/episode.h"
#include "play_game.h"
#include "report_cells.h"
#include "units.h"

namespace fuselage::cli {
namespace {

class WalkGame : public Game {
 public:
  WalkGame(const Workload& workload, const GameOptions& options)
      : workload_(workload),
        context_(workload),
        episode_(context_, {.rules = std::get<walk::Rules>(options.rules),
                            .max_steps = options.max_steps.value_or(0)}) {}

  std::string observation() const override { return episode_.observation(); }

  PlayedStep step(std::string_view action) override {
    const std::optional<walk::Action> answer = walk::parse_answer(action);
    if (!answer) return unread();
    const double before = episode_.total_latency();
    const walk::StepResult result = episode_.step(*answer);
    return_sum_ += result.reward;
    const bool failed = episode_.error().kind != walk::StepError::Kind::none;
    const std::string error = failed ? to_string(episode_.error(), context_.hardware()) : "";
    PlayedStep step{.reward = result.reward, .done = result.done};
    if (failed) step.text = error + "; ";
    if (!episode_.dropped().empty())
      step.text += fmt::format("not retained, since not there: {}; ", fmt::join(episode_.dropped(), ","));
    if (!result.done)
      step.text += fmt::format("open kernel of {} node{}; ", episode_.group().count,
                               episode_.group().count == 1 ? "" : "s");
    step.text += fmt::format("latency so far {}, {} of it from this step", cycles(episode_.total_latency()),
                             cycles(episode_.total_latency() - before));
    step.info = info(error);
    return step;
  }

  Standing standing() const override {
    return {.steps = episode_.steps(),
            .max_steps = episode_.max_steps(),
            .ops_run = episode_.position(),
            .ops = context_.graph().size(),
            .done = episode_.done(),
            .complete = episode_.done() && episode_.position() == context_.graph().size(),
            .latency = episode_.total_latency(),
            .naive_latency = context_.naive_latency(),
            .overflows = episode_.overflows(),
            .return_sum = return_sum_};
  }

  std::optional<double> greedy_latency() const override { return context_.greedy_latency(); }

  std::string score_text() const override {
    return fmt::format("score {:.4f}, improvement over greedy {} %", episode_.score(),
                       percent(episode_.improvement()));
  }
  nlohmann::ordered_json scores() const override {
    nlohmann::ordered_json json = {{"score", nullptr}, {"improvement", nullptr}};
    if (!episode_.done()) return json;
    json["score"] = episode_.score();
    json["improvement"] = number_or_null(episode_.improvement());
    return json;
  }
  std::string store_key() const override {
    return oracle::store_key(workload_, episode_.rules(), walk::Order::fixed);
  }

 private:
  PlayedStep unread() const {
    PlayedStep step{.reward = walk::parse_error_reward, .done = episode_.done(), .counted = false};
    step.text = "parse error: no step was used";
    step.info = info("parse error");
    return step;
  }
  nlohmann::ordered_json info(const std::string& error) const {
    return {{"error", text_or_null(error)},
            {"dropped", std::vector<NodeId>(episode_.dropped().begin(), episode_.dropped().end())},
            {"total_latency", episode_.total_latency()},
            {"kernel_launches", episode_.kernel_launches()},
            {"reloads", episode_.reloads()},
            {"fast_mem", episode_.fast_mem()},
            {"fast_mem_used", episode_.fast_mem_used()}};
  }

  const Workload& workload_;
  walk::EpisodeContext context_;
  walk::Episode episode_;
  double return_sum_ = 0;
};

}  // namespace

std::unique_ptr<Game> make_walk_game(const Workload& workload, const GameOptions& options) {
  if (std::get<walk::Rules>(options.rules) == walk::Rules::physical)
    fail("--rules: physical has no episodes; expected seed or seed-honest");
  return std::make_unique<WalkGame>(workload, options);
}

}  // namespace fuselage::cli

// Programs that measure plans, and all the ways in which they misbehave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "e2e/command.h"
#include "error_of.h"
#include "fuselage/oracle/evaluator_process.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/walk/tasks.h"

namespace fuselage::oracle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Reads requests; $id is the trial's number.
constexpr const char* loop = R"(while read -r line; do id=${line#*:}; id=${id%%,*}; )";

class ProcessEvaluatorTest : public CommandTest {
 protected:
  ProcessEvaluatorTest() : workload_(walk::make_task(walk::tasks()[0])) { plan_ = solve(workload_, {}).plan; }
  ~ProcessEvaluatorTest() override {
    // Whatever happened, no child is left.
    errno = 0;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  // `script`: what is done for a request.
  ProcessOptions options(const std::string& script) {
    write("evaluator.sh", std::string(loop) + script + "; done\n");
    ProcessOptions options{
        .command = "exec sh " + path("evaluator.sh").string(), .timeout_seconds = 5, .retries = 1};
    options.note = [this](const std::string& text) { notes_ += text + "\n"; };
    return options;
  }
  std::vector<Measurement> measure(const ProcessOptions& options, int plans) {
    ProcessEvaluator evaluator(workload_, options);
    std::vector<Measurement> all = measure(evaluator, plans);
    strays_ = evaluator.strays();
    return all;
  }
  std::vector<Measurement> measure(ProcessEvaluator& evaluator, int plans) {
    std::vector<Request> requests;
    for (int i = 0; i < plans; ++i) requests.push_back({.trial = i + 1, .plan = &plan_});
    std::vector<Measurement> all(requests.size());
    std::vector<int> answers(requests.size());
    complete_ = evaluator.evaluate(requests, [&](std::size_t i, const Measurement& m) {
      all[i] = m;
      ++answers[i];
    });
    if (complete_) {
      EXPECT_THAT(answers, testing::Each(1));
    }
    return all;
  }
  static Measurement took(double latency, int attempts = 1) {
    return {.latency = latency, .failure = "", .attempts = attempts};
  }

  Workload workload_;
  walk::Plan plan_;
  std::string notes_;
  std::int64_t strays_ = 0;
  bool complete_ = false;
};

TEST_F(ProcessEvaluatorTest, asks_for_every_plan_and_takes_the_answers) {
  EXPECT_THAT(measure(options(R"(echo "{\"id\": $id, \"latency\": $id.5}")"), 3),
              ElementsAre(took(1.5), took(2.5), took(3.5)));
  EXPECT_EQ(notes_, "");
}

TEST_F(ProcessEvaluatorTest, a_request_has_a_plan_that_stands_alone) {
  measure(options(R"(printf '%s\n' "$line" > )" + path("request").string() +
                  R"(; echo "{\"id\": $id, \"latency\": 1}")"),
          1);
  const auto request = nlohmann::json::parse(read("request"));
  EXPECT_EQ(request.at("id"), 1);
  write("plan.json", request.at("plan").dump());
  const Finished checked = run("check plan.json");
  EXPECT_EQ(checked.exit_code, 0) << checked.err << checked.out;
}

TEST_F(ProcessEvaluatorTest, workers_work_at_once_and_answer_in_any_order) {
  ProcessOptions four = options(R"([ $id = 1 ] && sleep 0.3; echo "{\"id\": $id, \"latency\": $id}")");
  four.workers = 4;
  EXPECT_THAT(measure(four, 6), ElementsAre(took(1), took(2), took(3), took(4), took(5), took(6)));
}

TEST_F(ProcessEvaluatorTest, one_that_hangs_is_killed_with_all_it_started_and_tried_again) {
  ProcessOptions hanging = options(R"(if [ $id = 2 ]; then sleep 61.7 & echo $! > )" + path("left").string() +
                                   R"(; wait; fi; echo "{\"id\": $id, \"latency\": $id}")");
  hanging.timeout_seconds = 0.2;
  const std::vector<Measurement> all = measure(hanging, 3);
  EXPECT_EQ(all[0], took(1));
  EXPECT_EQ(all[1].latency, std::nullopt);
  EXPECT_EQ(all[1].attempts, 2);
  EXPECT_EQ(all[1].failure, "the evaluator gave no answer within 0.2 s");
  EXPECT_EQ(all[2], took(3));
  const int left = std::stoi(read("left"));
  // Killed; its end may take a moment, or somebody else has to collect it.
  std::string state = "gone";
  for (int i = 0; i < 100; ++i) {
    std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
    std::string pid, name;
    if (!(stat >> pid >> name >> state) || state == "Z") break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(state, testing::AnyOf("gone", "Z"));
}

TEST_F(ProcessEvaluatorTest, a_hang_that_passes_costs_an_attempt_only) {
  ProcessOptions once =
      options("if [ $id = 2 ] && [ ! -e " + path("hung").string() + " ]; then touch " +
              path("hung").string() + R"(; sleep 60; fi; echo "{\"id\": $id, \"latency\": $id}")");
  once.timeout_seconds = 0.3;
  EXPECT_THAT(measure(once, 3), ElementsAre(took(1), took(2, 2), took(3)));
}

TEST_F(ProcessEvaluatorTest, garbage_fails_an_attempt) {
  const std::vector<Measurement> all =
      measure(options(R"([ $id = 2 ] && echo "compiling..."; echo "{\"id\": $id, \"latency\": 7}")"), 3);
  EXPECT_EQ(all[0], took(7));
  EXPECT_EQ(all[1].latency, std::nullopt);
  EXPECT_THAT(all[1].failure, HasSubstr("compiling..."));
  EXPECT_EQ(all[2], took(7));
}

TEST_F(ProcessEvaluatorTest, bytes_that_are_no_text_are_garbage) {
  const std::vector<Measurement> all =
      measure(options(R"([ $id = 2 ] && printf '\000\377\n' || echo "{\"id\": $id, \"latency\": 7}")"), 3);
  EXPECT_EQ(all[1].latency, std::nullopt);
  EXPECT_EQ(all[2], took(7));
}

TEST_F(ProcessEvaluatorTest, one_that_dies_is_started_again) {
  const std::vector<Measurement> all = measure(
      options(R"([ $id = 2 ] && exit 3; [ $id = 3 ] && kill -KILL $$; echo "{\"id\": $id, \"latency\": 7}")"),
      4);
  EXPECT_EQ(all[0], took(7));
  EXPECT_EQ(all[1].failure, "the evaluator ended with exit code 3");
  EXPECT_EQ(all[2].failure, "the evaluator was ended by signal 9");
  EXPECT_EQ(all[3], took(7));
}

TEST_F(ProcessEvaluatorTest, one_that_ends_after_each_answer_is_no_failure) {
  EXPECT_THAT(measure(options(R"(echo "{\"id\": $id, \"latency\": $id}"; exit 0)"), 5),
              ElementsAre(took(1), took(2), took(3), took(4), took(5)));
  EXPECT_EQ(notes_, "");
}

TEST_F(ProcessEvaluatorTest, closing_its_output_is_an_end) {
  const std::vector<Measurement> all = measure(
      options(R"([ $id = 2 ] && exec >&- && exec sleep 60; echo "{\"id\": $id, \"latency\": 7}")"), 3);
  EXPECT_EQ(all[1].failure, "the evaluator closed its output");
  EXPECT_EQ(all[2], took(7));
}

TEST_F(ProcessEvaluatorTest, one_that_does_not_read_is_timed_out_not_waited_for) {
  ProcessOptions deaf = options("");
  deaf.command = "exec <&-; sleep 60";
  deaf.timeout_seconds = 0.2;
  deaf.retries = 0;
  const std::vector<Measurement> all = measure(deaf, 2);
  EXPECT_EQ(all[0].failure, "the evaluator gave no answer within 0.2 s");
}

TEST_F(ProcessEvaluatorTest, second_answers_and_unknown_ids_are_ignored_and_counted) {
  EXPECT_THAT(
      measure(
          options(
              R"(echo "{\"id\": 99, \"latency\": 1}"; echo "{\"id\": $id, \"latency\": $id}"; echo "{\"id\": $id, \"latency\": 55}")"),
          3),
      ElementsAre(took(1), took(2), took(3)));
  EXPECT_GE(strays_, 5);  // what comes after the last answer may be unheard
  EXPECT_THAT(notes_, HasSubstr("id 99, which is not being asked about"));
}

TEST_F(ProcessEvaluatorTest, latencies_that_are_none_make_a_bad_plan_at_once) {
  ProcessOptions numbers = options(
      R"(case $id in 1) l=NaN;; 2) l=-3;; 3) l=0;; 4) l=Infinity;; 5) l=null;; 6) l='"7"';; 7) l=-inf;; 8) l=7;; esac
    echo "{\"id\": $id, \"latency\": $l}")");
  const std::vector<Measurement> all = measure(numbers, 8);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(all[i].latency, std::nullopt) << i;
    EXPECT_EQ(all[i].attempts, 1) << i;
    EXPECT_THAT(all[i].failure, HasSubstr("expected a finite number above 0")) << i;
  }
  EXPECT_EQ(all[7], took(7));
  EXPECT_EQ(notes_, "");
}

TEST_F(ProcessEvaluatorTest, an_error_makes_a_bad_plan_at_once) {
  const std::vector<Measurement> all = measure(options(R"(echo "{\"id\": $id, \"error\": \"no room\"}")"), 2);
  EXPECT_EQ(all[1], (Measurement{.latency = {}, .failure = "no room", .attempts = 1}));
}

TEST_F(ProcessEvaluatorTest, a_line_without_end_is_cut) {
  ProcessOptions endless =
      options(R"([ $id = 2 ] && exec cat /dev/zero; echo "{\"id\": $id, \"latency\": 7}")");
  const std::vector<Measurement> all = measure(endless, 3);
  EXPECT_THAT(all[1].failure, HasSubstr("a line of more than 65536 bytes"));
  EXPECT_EQ(all[2], took(7));
}

TEST_F(ProcessEvaluatorTest, a_command_that_is_none_is_an_error) {
  ProcessOptions none = options("");
  none.command = "/no/such/program 2> /dev/null";
  EXPECT_THAT(error_of([&] { measure(none, 3); }),
              AllOf(HasSubstr("--evaluate-with: \"/no/such/program"), HasSubstr("exit code 127")));
}

TEST_F(ProcessEvaluatorTest, one_that_never_answers_anything_is_an_error) {
  ProcessOptions silent = options("exit 5");
  silent.workers = 2;
  EXPECT_THAT(error_of([&] { measure(silent, 8); }),
              AllOf(HasSubstr("has never answered"), HasSubstr("exit code 5")));
}

TEST_F(ProcessEvaluatorTest, told_to_stop_it_kills_what_it_started) {
  std::atomic<bool> cancel = false;
  ProcessOptions slow = options("sleep 60");
  slow.workers = 3;
  slow.cancel = &cancel;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  const auto start = std::chrono::steady_clock::now();
  measure(slow, 5);
  stopper.join();
  EXPECT_FALSE(complete_);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST_F(ProcessEvaluatorTest, sigpipe_is_as_it_was) {
  struct sigaction before = {}, after = {};
  ::sigaction(SIGPIPE, nullptr, &before);
  measure(options(R"(echo "{\"id\": $id, \"latency\": 1}")"), 1);
  ::sigaction(SIGPIPE, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace fuselage::oracle

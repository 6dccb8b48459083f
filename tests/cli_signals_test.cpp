// Ctrl-C and SIGTERM: while input is read they end the program, and say so; after that they end the search,
// however many come at once. FIFOs show where the program is: to open one waits for the other side.
#include <gmock/gmock.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

constexpr const char* pause_that_counts = "sleep 0.6";  // from where on a second signal is another one

class Signals : public CommandTest {
 protected:
  // Runs `command` until it opens the FIFO `pipe` to read it, then sends the signal.
  Finished signalled_while_it_reads(const std::string& command, const char* signal) const {
    return shell(
        fmt::format("rm -f pipe; mkfifo pipe; {} & child=$!; exec 3> pipe; kill -{} $child; wait $child",
                    command, signal));
  }
  // A search that is done and waits for somebody to read its log; `then` may use $child.
  Finished search_then(const std::string& then) const {
    return shell(
        "mkfifo log; \"$FUSELAGE\" search task1_chain --no-store --out plan.json --log log & child=$!; "
        "until [ -e plan.json ]; do sleep 0.02; done; " +
        then);
  }
};

TEST_F(Signals, two_at_once_are_one) {
  // What timeout(1) does to its child and the child's group.
  const Finished search = search_then(
      "kill -TERM $child; sleep 0.02; kill -TERM $child; kill -INT $child; sleep 0.02; cat log > read.jsonl; "
      "wait $child");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_THAT(search.out, HasSubstr("task1_chain"));
  EXPECT_GE(lines(read("read.jsonl")).size(), 1U);
}

TEST_F(Signals, a_second_one_after_a_while_ends_it) {
  for (const auto& [signal, code] : {std::pair("TERM", 143), std::pair("INT", 130)}) {
    const Finished search = search_then(fmt::format(
        "kill -{0} $child; {1}; kill -0 $child && kill -{0} $child; wait $child", signal, pause_that_counts));
    EXPECT_EQ(search.exit_code, code);
    shell("rm -f log plan.json");
  }
}

TEST_F(Signals, a_search_that_is_told_twice_leaves_its_plan) {
  write("dense.json", dense_graph(400));
  const Finished search = shell(
      "\"$FUSELAGE\" search task1_chain dense.json --rules seed --no-store --time 60 --out plans & child=$!; "
      "until [ -e plans/task1_chain.json ]; do sleep 0.02; done; "
      "kill -TERM $child; sleep 0.02; kill -TERM $child; wait $child");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_THAT(search.err + search.out, HasSubstr("interrupt"));
}

TEST_F(Signals, while_input_is_read_the_program_ends_and_says_so) {
  ASSERT_EQ(run("search task1_chain --no-store --out plan.json").exit_code, 0);
  const std::string mlsys = std::string("'") + FUSELAGE_MLSYS + "'";
  const std::string fuselage = "\"$FUSELAGE\" ";
  for (const std::string& command :
       {fuselage + "search pipe", fuselage + "search task1_chain --hardware pipe",
        fuselage + "tune pipe --model none --no-store", fuselage + "tune task1_chain --model pipe",
        fuselage + "tune task1_chain --model none --no-store --log pipe --resume", fuselage + "explain pipe",
        fuselage + "check plan.json pipe", fuselage + "replay pipe", fuselage + "play task1_chain pipe",
        fuselage + "best import pipe --store s.sqlite", fuselage + "train pipe --out model",
        fuselage + "regret pipe", fuselage + "plot convergence pipe --data",
        fuselage + "serve --port 0 --token-file pipe", mlsys + " pipe solution.json"}) {
    const Finished terminated = signalled_while_it_reads(command, "TERM");
    EXPECT_EQ(terminated.exit_code, 143) << command;
    EXPECT_THAT(terminated.err, HasSubstr("SIGTERM")) << command;
  }
  for (const std::string& command : {fuselage + "search pipe", mlsys + " pipe solution.json"}) {
    const Finished interrupted = signalled_while_it_reads(command, "INT");
    EXPECT_EQ(interrupted.exit_code, 130) << command;
    EXPECT_THAT(interrupted.err, HasSubstr("SIGINT")) << command;
  }
}

TEST_F(Signals, while_stdin_is_waited_for_the_program_ends_and_says_so) {
  // A shell without job control starts its children deaf to SIGINT, and so are these until they are in main.
  for (const char* arguments :
       {"search -", "play task1_chain", "best import - --store s.sqlite", "explain -"}) {
    const Finished interrupted = shell(
        fmt::format("rm -f pipe; mkfifo pipe; \"$FUSELAGE\" {} < pipe > /dev/null & child=$!; exec 3> pipe; "
                    "while kill -INT $child; do sleep 0.02; done 2> /dev/null; wait $child",
                    arguments));
    EXPECT_EQ(interrupted.exit_code, 130) << arguments;
    EXPECT_THAT(interrupted.err, HasSubstr("fuselage: ended by an interrupt (SIGINT)")) << arguments;
  }
}

}  // namespace
}  // namespace fuselage

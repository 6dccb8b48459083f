#include "fuselage/core/program.h"

#include <gtest/gtest.h>

#include <chrono>

#include "error_of.h"

namespace fuselage {
namespace {

Program shell(const std::string& script, double seconds = 20) {
  return {.arguments = {"sh", "-c", script}, .package = "dash", .seconds = seconds};
}

TEST(Program, FiltersMoreThanAPipeHolds) {
  const std::string input(3'000'000, 'x');
  EXPECT_EQ(run_program(shell("cat; cat /dev/null"), input), input);
  EXPECT_EQ(run_program(shell("echo ignored >&2; printf 'a\\0b'"), ""), std::string("a\0b", 3));
  EXPECT_EQ(run_program(shell("true"), input), "");
}

TEST(Program, SaysHowItFailed) {
  const auto error = [](const Program& program) { return error_of([&] { run_program(program, "text"); }); };
  EXPECT_EQ(error({.arguments = {"no-such-program-7"}, .package = "thing"}),
            "no-such-program-7: not found; expected it to be installed (Debian's package thing)");
  EXPECT_EQ(error(shell("echo out; echo 'line 1: bad' >&2; exit 3")),
            "sh: failed with exit code 3; it said: line 1: bad");
  EXPECT_EQ(error(shell("kill -9 $$")), "sh: was ended by signal 9; it said nothing");
}

TEST(Program, EndsInTime) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([] {
              run_program({.arguments = {"sleep", "60"}, .seconds = 0.1}, "");
            }),
            "sleep: took more than 0.1 s; expected an answer by then");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace fuselage

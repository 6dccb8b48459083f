// Every option and argument of every command, as the program itself lists them, given what it can't be and
// what it can be. Nothing here names an option, so that a new one is tried as soon as it is declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <set>

#include "../src/cli/cli.h"
#include "../src/cli/commands.h"
#include "../src/cli/options.h"
#include "e2e/command.h"
#include "e2e/process.h"
#include "fuselage/core/utf8.h"

namespace fuselage {
namespace {

using cli::Takes;
using testing::HasSubstr;

// An option in its command.
struct Place {
  std::vector<std::string> words;  // "best", "show"
  const CLI::Option* option = nullptr;
  std::vector<const CLI::Option*> arguments;  // all of the command, in their order

  bool is_argument() const { return option->get_positional(); }
  // "--steps", "TARGET": what a message must name.
  std::string name() const {
    return is_argument() ? option->get_single_name() : "--" + option->get_lnames().front();
  }
  std::string shown() const { return fmt::format("{} {}", fmt::join(words, " "), name()); }
  // The command line with this value, and others where it needs them.
  std::vector<std::string> line(const std::string& value, const std::string& target) const {
    std::vector<std::string> line = words;
    for (const CLI::Option* argument : arguments) {
      if (argument == option) line.push_back(value);
      if (argument == option) break;
      // What any of them takes: a kind of plot is a name of a file, too.
      line.push_back(argument->get_single_name() == "TARGET" ? target : "lines");
    }
    if (is_argument()) return line;
    if (value.empty()) {  // "--steps=" has none at all
      line.push_back(name());
      line.push_back(value);
    } else {
      line.push_back(fmt::format("{}={}", name(), value));
    }
    return line;
  }
};

// The program's commands, which are read but never run.
class Commands {
 public:
  Commands() : app_("") {
    cli::add_commands(app_, exit_code_);
    app_.parse_complete_callback([] { throw Parsed(); });  // before any command runs
    visit(app_, {});
  }
  const std::vector<Place>& places() const { return places_; }
  const std::vector<std::vector<std::string>>& commands() const { return commands_; }

  // What is said of the line; nothing if all its values are good.
  std::string refusal(std::vector<std::string> line) {
    std::reverse(line.begin(), line.end());
    try {
      app_.parse(line);
    } catch (const Error& error) {
      return error.what();
    } catch (const Parsed&) {
      return "";
    } catch (const CLI::RequiredError&) {
      return "";
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal(const Place& place, const std::string& value) {
    return refusal(place.line(value, "task1_chain"));
  }

 private:
  struct Parsed {};

  void visit(CLI::App& app, const std::vector<std::string>& words) {
    if (!words.empty()) commands_.push_back(words);
    std::vector<const CLI::Option*> arguments;
    for (const CLI::Option* option : app.get_options())
      if (option->get_positional()) arguments.push_back(option);
    for (const CLI::Option* option : app.get_options())
      places_.push_back({.words = words, .option = option, .arguments = arguments});
    for (CLI::App* sub : app.get_subcommands(nullptr)) {
      std::vector<std::string> longer = words;
      longer.push_back(sub->get_name());
      visit(*sub, longer);
    }
  }

  CLI::App app_;
  int exit_code_ = 0;
  std::vector<Place> places_;
  std::vector<std::vector<std::string>> commands_;
};

class CliOptions : public CommandTest {
 protected:
  // Of all that takes a value of one of these types.
  template <class Try>
  void each(std::initializer_list<Takes> types, const Try& attempt) {
    std::size_t tried = 0;
    for (const Place& place : commands_.places()) {
      const std::optional<Takes> type = cli::takes(*place.option);
      if (!type || std::find(types.begin(), types.end(), *type) == types.end()) continue;
      SCOPED_TRACE(place.shown());
      attempt(place);
      ++tried;
    }
    EXPECT_GT(tried, 0U);
  }
  void expect_refused(const Place& place, const std::string& value) {
    const std::string refusal = commands_.refusal(place, value);
    EXPECT_THAT(refusal, HasSubstr(place.name())) << "value " << quote(value);
    EXPECT_THAT(refusal, HasSubstr("expected")) << "value " << quote(value);
    EXPECT_LE(refusal.size(), 1'000U) << "value " << quote(value);
  }
  ProcessRun run_line(const std::vector<std::string>& line) const {
    return run_process(line, {.directory = path("."),
                              .environment = {{"XDG_DATA_HOME", path("home")}},
                              .patience = std::chrono::milliseconds(100)});
  }

  Commands commands_;
};

const std::string very_long(100'000, '7');
const std::initializer_list<const char*> no_numbers = {"",     " ",   "abc",   "1x",           "x1",
                                                       " 1",   "1 ",  "1\n",   "+1",           "--1",
                                                       "-",    ".",   "e5",    "1e",           "?",
                                                       "1,",   "0x1", "inf",   "nan",          "-inf",
                                                       "1_0",  "1'0", "1e1.5", "\xEF\xBC\x91", "\xE5\x90\x8D",
                                                       "true", "1;2"};

TEST_F(CliOptions, EachSaysWhatItTakes) {
  EXPECT_GT(commands_.places().size(), 200U);
  for (const Place& place : commands_.places())
    EXPECT_EQ(place.option->get_expected_min() > 0, cli::takes(*place.option).has_value())
        << place.shown() << ": is declared by no function of src/cli/options.h";
}

TEST_F(CliOptions, IntegersAreIntegers) {
  each({Takes::integer}, [&](const Place& place) {
    for (const char* value : no_numbers) expect_refused(place, value);
    for (const char* value : {"1.5", "1e-1", "-1", "1e30", "-1e30", "1e999999999999", "99999999999999999999"})
      expect_refused(place, value);
    expect_refused(place, very_long);
    // 1 and 1e0, 2000 and 2e3: both good, or both beyond the range.
    for (const auto& [plain, other] :
         {std::pair("1", "1e0"), std::pair("1", "1.0"), std::pair("2", "20e-1"), std::pair("1000", "1e3"),
          std::pair("1000", "1E+3"), std::pair("1000000", "1e6")})
      EXPECT_EQ(commands_.refusal(place, plain).empty(), commands_.refusal(place, other).empty()) << other;
  });
}

TEST_F(CliOptions, NumbersAreNumbers) {
  each({Takes::number}, [&](const Place& place) {
    for (const char* value : no_numbers) {
      expect_refused(place, value);
      EXPECT_THAT(commands_.refusal(place, value), HasSubstr("is no number")) << value;
    }
    for (const char* value : {"-1", "1e200", "-1e-3", "1e999", "-1e999", "1e999999999999"}) {
      expect_refused(place, value);
      EXPECT_THAT(commands_.refusal(place, value), HasSubstr("is out of range; expected a number from "))
          << value;
    }
    expect_refused(place, very_long);
    for (const auto& [plain, other] :
         {std::pair("0.5", "5e-1"), std::pair("1", "1E+0"), std::pair("0.25", ".25")})
      EXPECT_EQ(commands_.refusal(place, plain).empty(), commands_.refusal(place, other).empty()) << other;
  });
}

TEST_F(CliOptions, FormsRefuseAllElse) {
  each({Takes::form}, [&](const Place& place) {
    for (const char* value : {"", " ", "?", "=,", "[,]", "\xE5\x90\x8D", "a b", "\x1b[31m"})
      expect_refused(place, value);
  });
}

TEST_F(CliOptions, TextsAreNeverEmpty) {
  each({Takes::text}, [&](const Place& place) {
    expect_refused(place, "");
    for (const char* value : {"x", "\xE5\x90\x8D.json", "a b", "[a,b]", "%%", "{}", "1e3"})
      EXPECT_EQ(commands_.refusal(place, value), "") << value;
  });
  each({Takes::any_text}, [&](const Place& place) {
    for (const char* value : {"", "x", "\xE5\x90\x8D", "[a,b]"})
      EXPECT_EQ(commands_.refusal(place, value), "");
  });
}

TEST_F(CliOptions, FlagsTakeNoValue) {
  for (const Place& place : commands_.places()) {
    const bool ends = place.name() == "--help" || place.name() == "--version";  // whatever else is said
    if (ends || cli::takes(*place.option)) continue;
    std::vector<std::string> line = place.words;
    line.push_back(place.name() + "=abc");
    EXPECT_THAT(commands_.refusal(line), HasSubstr(place.name())) << place.shown();
  }
}

// The numbers within ranges, lists and assignments are read by the same reader.
TEST_F(CliOptions, NumbersWithinForms) {
  const auto expect = [&](const std::vector<std::string>& line, const std::string& message) {
    EXPECT_THAT(commands_.refusal(line),
                message.empty() ? testing::Eq("") : testing::Matcher<std::string>(HasSubstr(message)))
        << fmt::format("{}", fmt::join(line, " "));
  };
  for (const char* good : {"--set=fast_mem_capacity=1e6", "--set=slow_mem_bandwidth=.5",
                           "--price=traffic=1e-1,launch=5E2", "--space=ops=1e1,groups=4e2"})
    expect({"search", "all", good}, "");
  expect({"search", "all", "--set=fast_mem_capacity=64k"}, "--set fast_mem_capacity: \"64k\" is no integer");
  expect({"search", "all", "--set=fast_mem_capacity=1.5"}, "--set fast_mem_capacity: \"1.5\" is no integer");
  expect({"search", "all", "--set=fast_mem_capacity=9223372036854775807"}, "");
  expect({"search", "all", "--set=slow_mem_bandwidth=0x10"},
         "--set slow_mem_bandwidth: \"0x10\" is no number");
  expect({"search", "all", "--set=kernel_launch_cost= 1"}, "--set kernel_launch_cost: \" 1\" is no number");
  expect({"search", "all", "--set=kernel_launch_cost=inf"}, "--set kernel_launch_cost: \"inf\" is no number");
  expect({"search", "all", "--price=traffic=nan"},
         "--price: traffic: \"nan\" is no number; expected a number from 0 to 1e+100");
  expect({"search", "all", "--price=launch=1e308"}, "--price: launch: \"1e308\" is out of range");
  expect({"search", "all", "--space=ops=1.5"},
         "--space: ops: \"1.5\" is no integer; expected an integer from 1 to 64");
  for (const char* command : {"trajectories", "oracle"}) {
    expect({command, "--ops=1e1-2e1"}, "");
    expect({command, "--ops=8-"}, "--ops: \"8-\" is no range");
    expect({command, "--ops=8-x"}, "--ops: \"x\" is no integer");
    expect({command, "--ops=-8"}, "--ops: -8 is out of range");
    expect({command, "--ops=9-8"}, "--ops: \"9-8\" is no range; expected LOW-HIGH with LOW <= HIGH");
  }
  for (const char* command : {"counterfactuals", "oracle"}) {
    expect({command, "--curriculum=2e-1:.8"}, "");
    expect({command, "--curriculum=0.2:"}, "--curriculum: \"0.2:\" is n");
    expect({command, "--curriculum=0.2:nan"}, "--curriculum: \"nan\" is no number");
    expect({command, "--curriculum=0.2:2"},
           "--curriculum: \"2\" is out of range; expected a number from 0 to 1");
  }
  expect({"oracle", "--shard-of=0/4e0"}, "");
  expect({"oracle", "--shard-of=1.5/4"}, "--shard-of: \"1.5\" is no integer");
  expect({"oracle", "--policy=optimal:5e-1,eps1e-1:.5"}, "");
  for (const char* bad : {"optimal:0x1", "optimal: 1", "optimal:", "optimal:inf", "epsnan", "eps0x1"})
    expect({"oracle", std::string("--policy=") + bad}, "--policy: ");
  expect({"generate", "--shape=1e2x2.5e2"}, "");
  expect({"generate", "--shape=x5"}, "--shape: \"x5\" is no shape");
  expect({"generate", "--shape=5x1.5"}, "--shape: \"1.5\" is no integer");
}

// And by processes: exit codes, and that nothing else is said.
TEST_F(CliOptions, BadValuesEndInTwo) {
  std::set<std::pair<std::vector<std::string>, Takes>> seen;  // one of a type in each command
  for (const Place& place : commands_.places()) {
    const std::optional<Takes> type = cli::takes(*place.option);
    if (!type || *type == Takes::any_text || !seen.emplace(place.words, *type).second) continue;
    const ProcessRun run = run_line(place.line("", "task1_chain"));
    EXPECT_EQ(run.exit_code, 2) << place.shown();
    EXPECT_THAT(run.output, testing::StartsWith("fuselage: error: " + place.name())) << place.shown();
  }
}

TEST_F(CliOptions, GoodTextsEndWell) {
  for (const Place& place : commands_.places()) {
    const std::optional<Takes> type = cli::takes(*place.option);
    if (type != Takes::text && type != Takes::any_text) continue;
    for (const std::string& value :
         {std::string("\xE5\x90\x8D \"\xC3\xA9\xF0\x9F\x98\x80\n.json"), std::string(5'000, 'n')}) {
      const ProcessRun run = run_line(place.line(value, "task1_chain"));
      EXPECT_TRUE(run.ended_well()) << place.shown() << ": exit code " << run.exit_code << ", signal "
                                    << run.signal << ": " << run.output;
    }
  }
}

}  // namespace
}  // namespace fuselage

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <new>
#include <numeric>

#include "cli.h"
#include "commands.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "interrupt.h"
#include "standard_streams.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

// ", did you mean --rules?" if one of the words is near, else nothing.
std::string suggestion(std::string_view given, const std::vector<std::string>& words) {
  constexpr std::size_t longest = 40;
  if (given.size() > longest) return {};
  const auto distance = [&](const std::string& word) { return edit_distance(given, word); };
  const auto nearest = std::min_element(
      words.begin(), words.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return nearest != words.end() && distance(*nearest) <= 2 ? fmt::format("; did you mean {}?", *nearest) : "";
}

std::vector<std::string> words_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands(nullptr)) words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

// CLI11's messages where they can be followed, ours for an option without its one value.
std::string message_of(const CLI::ParseError& error) {
  const std::string what = error.what();
  const std::string option = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return what;
  return what.ends_with(" missing") ? option + ": its value is missing" : option + ": given more than once";
}

// What is wrong with the arguments, and what would be right.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string called = chosen.empty() ? "fuselage" : "fuselage " + command.get_name();
  const std::vector<std::string> rest = app.remaining(true);
  std::string message = message_of(error);
  if (!rest.empty()) {
    const bool is_command = chosen.empty() && rest.front().front() != '-';
    message =
        fmt::format("{} {}{}", quote(rest.front()), is_command ? "is no command" : "is not expected here",
                    suggestion(rest.front(), words_of(command)));
  }
  return fmt::format("{}\nSee '{} --help'.", message, called);
}

int run(int argc, char** argv) {
  CLI::App app(
      "Finds and proves good schedules for tensor graphs: which ops to fuse into a kernel, how to\n"
      "tile it, which tensors to keep in fast memory.");
  int exit_code = exit_ok;
  add_commands(app, exit_code);
  try {
    app.parse(argc, argv);
    if (argc <= 1) write_stdout(app.help());
  } catch (const CLI::CallForVersion& version) {
    write_stdout(fmt::format("{}\n", version.what()));
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
  } catch (const CLI::ParseError& error) {
    print_error(usage_message(app, error));
    return exit_bad_input;
  }
  return exit_code;
}

}  // namespace
}  // namespace fuselage::cli

int main(int argc, char** argv) {
  using namespace fuselage::cli;
  prepare_standard_streams();
  end_on_interrupt();
  // A limit on the size of files is an error of write(); programs that are run have it again.
  std::signal(SIGXFSZ, [](int) {});
  try {
    return run(argc, argv);
  } catch (const fuselage::Error& error) {
    print_error(error.what());
    return exit_bad_input;
  } catch (const std::filesystem::filesystem_error& error) {  // a name that is too long, a closed directory
    print_error(fmt::format("{}: {}; expected a name that the system takes",
                            fuselage::quote(error.path1().string()), error.code().message()));
    return exit_bad_input;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(fmt::format("internal: {}; this is a bug, please report it", error.what()));
  }
  return exit_internal;
}

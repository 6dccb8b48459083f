// A run of the real binary whose arguments are any bytes, that may not end by itself, and that may be at a
// terminal. Something that is still at work after a while is told to end (SIGTERM), as a user would; what
// doesn't is a hang.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace fuselage {

struct ProcessRun {
  int exit_code = -1;     // -1: ended by a signal
  int signal = 0;         // that ended it
  bool was_told = false;  // to end
  std::string output;     // stdout and stderr together

  // Not by a crash, and not by a bug that it noticed itself.
  bool ended_well() const {
    if (was_told && (signal == SIGTERM || exit_code == 128 + SIGTERM)) return true;
    return exit_code >= 0 && exit_code <= 2;
  }
};

struct ProcessOptions {
  std::filesystem::path directory;                               // to run in
  std::vector<std::pair<std::string, std::string>> environment;  // set beside the own one; "" unsets
  bool at_terminal = false;
  std::chrono::milliseconds patience{300};  // before it is told to end
};

// `arguments` without the program's name. There is nothing on its stdin, or, at a terminal, nobody who types.
inline ProcessRun run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  using Clock = std::chrono::steady_clock;
  std::vector<char*> words = {const_cast<char*>(FUSELAGE_COMMAND)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  int from = -1, to = -1;
  if (options.at_terminal) {
    if (::openpty(&from, &to, nullptr, nullptr, nullptr) != 0) throw std::runtime_error("openpty");
  } else {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    from = ends[0];
    to = ends[1];
  }
  ::fcntl(from, F_SETFD, FD_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : options.environment)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
    ::close(to);
    if (::chdir(options.directory.c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  ::close(to);
  ProcessRun run;
  const auto start = Clock::now();
  constexpr std::chrono::seconds hang{60};
  pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
  for (bool open = true; open;) {
    const auto passed = Clock::now() - start;
    if (!run.was_told && passed > options.patience) {
      run.was_told = true;
      ::kill(child, SIGTERM);
    }
    if (passed > hang) ::kill(child, SIGKILL);
    if (::poll(&ready, 1, 20) <= 0) continue;
    char block[4096];
    const ssize_t count = ::read(from, block, sizeof block);
    open = count > 0;  // a terminal whose other end is closed is an error
    if (open) run.output.append(block, static_cast<std::size_t>(count));
  }
  ::close(from);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  return run;
}

}  // namespace fuselage

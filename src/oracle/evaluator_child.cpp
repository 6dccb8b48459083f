#include "evaluator_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "fuselage/core/error.h"

namespace fuselage::oracle {
namespace {

[[noreturn]] void fail_to(const char* what) {
  fail("{}: {}; expected a process for the evaluator", what, std::generic_category().message(errno));
}

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail_to("pipe");
  }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int take(std::size_t which) { return std::exchange(ends[which], -1); }
};

// Between fork and exec: only what is safe in a child of a program with threads.
[[noreturn]] void become(char* const* arguments, int in, int out, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) ::_exit(127);
  ::execv("/bin/sh", arguments);
  ::_exit(127);
}

void set_non_blocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

ChildProcess::ChildProcess(const std::string& command) {
  Pipe to;
  Pipe from;
  std::string shell = "sh", flag = "-c", line = command;
  const std::array<char*, 4> arguments = {shell.data(), flag.data(), line.data(), nullptr};
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail_to("fork");
  if (pid_ == 0) become(arguments.data(), to.ends[0], from.ends[1], parent);
  ::setpgid(pid_, pid_);  // whoever is first
  input_ = to.take(1);
  output_ = from.take(0);
  set_non_blocking(input_);
  set_non_blocking(output_);
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

// The group is killed while its leader is not yet waited for: until then nobody else can have its number.
ChildProcess::End ChildProcess::end(double grace_seconds) {
  End result;
  if (pid_ < 0) return result;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(grace_seconds);
  close_input();
  siginfo_t info = {};
  for (;;) {
    info.si_pid = 0;
    const bool known = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if ((known && info.si_pid != 0) || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (info.si_pid != 0 && info.si_code == CLD_EXITED) result.exit_code = info.si_status;
  if (info.si_pid != 0 && info.si_code != CLD_EXITED) result.signal = info.si_status;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::close(output_);
  pid_ = -1;
  return result;
}

std::string ChildProcess::End::words() const {
  if (exit_code) return fmt::format("ended with exit code {}", *exit_code);
  if (signal != 0) return fmt::format("was ended by signal {}", signal);
  return "closed its output";
}

}  // namespace fuselage::oracle

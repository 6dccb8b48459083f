#include "fuselage/core/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <system_error>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

[[noreturn]] void fail_to(const Program& program, const char* what) {
  fail("{}: {}: {}; expected to run it", program.arguments[0], what, std::generic_category().message(errno));
}

class Descriptor {
 public:
  Descriptor(int fd, const Program& program, const char* what) : fd_(fd) {
    if (fd_ < 0) fail_to(program, what);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A file in memory only. No pipes: nothing has to be read and written at once.
class MemoryFile : public Descriptor {
 public:
  explicit MemoryFile(const Program& program)
      : Descriptor(::memfd_create("fuselage", MFD_CLOEXEC), program, "memfd_create"), program_(program) {}

  void fill(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(get(), text.data(), text.size());
      if (written < 0 && errno != EINTR) fail_to(program_, "write");
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(get(), 0, SEEK_SET);
  }

  std::string text() const {
    const off_t size = ::lseek(get(), 0, SEEK_END);
    std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
      const ssize_t got = ::pread(get(), text.data() + have, text.size() - have, static_cast<off_t>(have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_to(program_, "read");
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
  }

 private:
  const Program& program_;
};

constexpr int not_found = 127;  // exit code where there is no such program, as a shell has it

struct Ends {
  int in;
  int out;
  int err;
};

// Between fork and exec: only what is safe in a child of a program with threads.
[[noreturn]] void become(char* const* arguments, const Ends& ends, pid_t parent, rlim_t seconds) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // however we die, nobody waits for it any more
  if (::getppid() != parent) ::_exit(not_found);
  const rlimit limit = {.rlim_cur = seconds, .rlim_max = seconds};
  ::setrlimit(RLIMIT_CPU, &limit);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGQUIT}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::dup2(ends.in, STDIN_FILENO) < 0 || ::dup2(ends.out, STDOUT_FILENO) < 0 ||
      ::dup2(ends.err, STDERR_FILENO) < 0)
    ::_exit(not_found);
  ::execvp(arguments[0], arguments);
  ::_exit(not_found);
}

pid_t start(const Program& program, const Ends& ends) {
  std::vector<char*> arguments;
  for (const std::string& argument : program.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const auto seconds = static_cast<rlim_t>(program.seconds) + 2;
  const pid_t pid = ::fork();
  if (pid == 0) become(arguments.data(), ends, parent, seconds);
  if (pid < 0) fail_to(program, "fork");
  return pid;
}

// Has it ended within its time?
bool wait_for_end(const Program& program, pid_t pid) {
  using Clock = std::chrono::steady_clock;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), program, "pidfd_open");
  const auto deadline = Clock::now() + std::chrono::duration<double>(program.seconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd end = {.fd = process.get(), .events = POLLIN, .revents = 0};
    if (::poll(&end, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000))) > 0) return true;
  }
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string first_lines(std::string text) {
  constexpr std::size_t most = 400;
  if (text.size() > most) text = text.substr(0, most) + "...";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "it said nothing" : "it said: " + text;
}

}  // namespace

std::string run_program(const Program& program, std::string_view input) {
  MemoryFile in(program);
  const MemoryFile out(program);
  const MemoryFile err(program);
  in.fill(input);
  const pid_t pid = start(program, {.in = in.get(), .out = out.get(), .err = err.get()});
  const bool in_time = wait_for_end(program, pid);
  if (!in_time) ::kill(pid, SIGKILL);
  const int status = reap(pid);
  if (!in_time)
    fail("{}: took more than {:g} s; expected an answer by then", program.arguments[0], program.seconds);
  if (WIFSIGNALED(status))
    fail("{}: was ended by signal {}; {}", program.arguments[0], WTERMSIG(status), first_lines(err.text()));
  if (WEXITSTATUS(status) == not_found && err.text().empty())
    throw ProgramMissing(fmt::format("{}: not found; expected it to be installed (Debian's package {})",
                                     program.arguments[0], program.package));
  if (WEXITSTATUS(status) != 0)
    fail("{}: failed with exit code {}; {}", program.arguments[0], WEXITSTATUS(status),
         first_lines(err.text()));
  return out.text();
}

}  // namespace fuselage

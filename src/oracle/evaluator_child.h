// A shell command with pipes to its stdin and from its stdout, in a process group of its own, so that all of
// it can be killed. The shell dies with us, however we die; what it has started does if we end in order.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace fuselage::oracle {

class ChildProcess {
 public:
  // Error if no process can be started; a command that doesn't exist is the shell's to report, by 127.
  explicit ChildProcess(const std::string& command);
  ~ChildProcess() { end(0); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int input() const { return input_; }    // to write to; -1 if closed. Neither blocks.
  int output() const { return output_; }  // to read from
  void close_input();

  // Waits that long for its end, then kills what there is of the group. What it was that ended it.
  struct End {
    std::optional<int> exit_code = {};
    int signal = 0;  // 0: none, or ours

    std::string words() const;  // "ended with exit code 3"
  };
  End end(double grace_seconds);

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
};

}  // namespace fuselage::oracle

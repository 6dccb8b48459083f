#include "fuselage/oracle/evaluator_process.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "evaluator_answer.h"
#include "evaluator_child.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t longest_line = 64 * 1024;  // bytes of an answer
constexpr int most_notes_of_strays = 5;
constexpr int patience = 4;                  // plans given up, before a program that never answered is
constexpr double parting_seconds = 0.5;      // for programs to end by themselves
constexpr double last_words_seconds = 0.05;  // from the end of the output to that of the program

// Writing to a program that has gone is an error of write(), not our end.
class NoSigpipe {
 public:
  NoSigpipe() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
  }
  ~NoSigpipe() { ::sigaction(SIGPIPE, &before_, nullptr); }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace

struct ProcessEvaluator::Worker {
  std::unique_ptr<ChildProcess> process = nullptr;
  std::string unsent = {};
  std::string heard = {};  // the beginning of a line
  std::optional<std::size_t> asked = {};
  Clock::time_point deadline = {};
  bool has_answered = false;  // this process, anything
};

// One call of evaluate.
struct ProcessEvaluator::Round {
  std::span<const Request> requests;
  const Answered& answered;
  std::deque<std::size_t> waiting = {};
  std::vector<int> attempts = {};  // by request
  std::size_t left = 0;
};

ProcessEvaluator::ProcessEvaluator(const Workload& workload, ProcessOptions options)
    : workload_(workload), options_(std::move(options)) {
  if (options_.workers < 1) fail("workers: {} is out of range; expected an integer >= 1", options_.workers);
  if (options_.retries < 0) fail("retries: {} is out of range; expected an integer >= 0", options_.retries);
  if (!(options_.timeout_seconds > 0))
    fail("timeout: {} is out of range; expected seconds > 0", options_.timeout_seconds);
  workers_.resize(static_cast<std::size_t>(options_.workers));
}

ProcessEvaluator::~ProcessEvaluator() {
  let_go();
}

void ProcessEvaluator::let_go() {
  const auto deadline = Clock::now() + std::chrono::duration<double>(parting_seconds);
  for (Worker& worker : workers_)
    if (worker.process) worker.process->close_input();
  for (Worker& worker : workers_) {
    if (!worker.process) continue;
    // Who was still being asked gets no time.
    const std::chrono::duration<double> grace = deadline - Clock::now();
    worker.process->end(worker.asked ? 0 : std::max(0.0, grace.count()));
    worker = {};
  }
}

bool ProcessEvaluator::evaluate(std::span<const Request> requests, const Answered& answered) {
  const NoSigpipe guard;
  Round round{.requests = requests, .answered = answered};
  round.attempts.resize(requests.size());
  round.left = requests.size();
  for (std::size_t i = 0; i < requests.size(); ++i) round.waiting.push_back(i);
  try {
    while (round.left > 0) {
      if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
        let_go();
        return false;
      }
      assign(round);
      wait();
      for (Worker& worker : workers_) {
        if (!worker.process) continue;
        write_to(worker);
        read_from(worker, round);
        if (worker.asked && Clock::now() >= worker.deadline)
          fail_attempt(worker, round, fmt::format("gave no answer within {} s", options_.timeout_seconds));
      }
    }
  } catch (...) {
    let_go();
    throw;
  }
  return true;
}

void ProcessEvaluator::assign(Round& round) {
  for (Worker& worker : workers_) {
    if (worker.asked || round.waiting.empty()) continue;
    worker.asked = round.waiting.front();
    round.waiting.pop_front();
    ++round.attempts[*worker.asked];
    ask(worker, round.requests[*worker.asked]);
  }
}

void ProcessEvaluator::ask(Worker& worker, const Request& request) {
  if (!worker.process) worker.process = std::make_unique<ChildProcess>(options_.command);
  worker.unsent = request_line(workload_, request);
  worker.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                       std::min(options_.timeout_seconds, 1e9)));
}

// Until there is something to do, or for a moment: somebody may tell us to stop.
void ProcessEvaluator::wait() {
  std::vector<pollfd> fds;
  auto least = std::chrono::milliseconds(100);
  for (const Worker& worker : workers_) {
    if (!worker.process) continue;
    fds.push_back({.fd = worker.process->output(), .events = POLLIN, .revents = 0});
    if (!worker.unsent.empty())
      fds.push_back({.fd = worker.process->input(), .events = POLLOUT, .revents = 0});
    if (worker.asked)
      least = std::min(least, std::chrono::ceil<std::chrono::milliseconds>(worker.deadline - Clock::now()));
  }
  ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(0, least.count())));
}

void ProcessEvaluator::write_to(Worker& worker) {
  while (!worker.unsent.empty()) {
    const ssize_t sent = ::write(worker.process->input(), worker.unsent.data(), worker.unsent.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    // It reads no more; what it says before it ends, or the clock, decides.
    if (sent < 0) return worker.unsent.clear();
    worker.unsent.erase(0, static_cast<std::size_t>(sent));
  }
}

void ProcessEvaluator::read_from(Worker& worker, Round& round) {
  std::array<char, 16 * 1024> part;
  const ssize_t got = ::read(worker.process->output(), part.data(), part.size());
  if (got < 0) return;  // nothing there
  if (got == 0) return ended(worker, round);
  worker.heard.append(part.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end; (end = worker.heard.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = worker.heard.substr(begin, end - begin);
    hear(worker, round, line);
    if (!worker.process) return;
  }
  worker.heard.erase(0, begin);
  if (worker.heard.size() > longest_line)
    fail_attempt(worker, round, fmt::format("wrote a line of more than {} bytes", longest_line));
}

void ProcessEvaluator::hear(Worker& worker, Round& round, std::string_view line) {
  std::string why;
  const std::optional<EvaluatorAnswer> answer =
      line.size() > longest_line ? std::nullopt : parse_answer(line, why);
  if (!answer && worker.asked)
    return fail_attempt(worker, round, fmt::format("answered {} ({})", quote(line), why));
  if (!answer) return stray(quote(line));
  if (!worker.asked || round.requests[*worker.asked].trial != answer->id)
    return stray(fmt::format("an answer with the id {}, which is not being asked about", answer->id));
  worker.has_answered = true;
  ever_answered_ = true;
  const std::size_t index = *std::exchange(worker.asked, std::nullopt);
  Measurement measured = answer->measured;
  measured.attempts = round.attempts[index];
  finish(round, index, std::move(measured));
}

void ProcessEvaluator::ended(Worker& worker, Round& round) {
  const ChildProcess::End end = worker.process->end(last_words_seconds);
  const bool is_parting = worker.has_answered && end.exit_code == 0;
  if (!worker.asked || is_parting) {
    // It ended after an answer: that is no failure of the plan that came next.
    if (worker.asked) {
      --round.attempts[*worker.asked];
      round.waiting.push_front(*worker.asked);
    }
    worker = {};
    return;
  }
  const bool cannot_start = end.exit_code == 127 || end.exit_code == 126;
  if (cannot_start && !ever_answered_)
    fail("--evaluate-with: {} {}: the shell can't start it; expected a program that answers plans",
         quote(options_.command), end.words());
  fail_attempt(worker, round, end.words());
}

void ProcessEvaluator::fail_attempt(Worker& worker, Round& round, const std::string& why) {
  if (!worker.asked) {
    note(fmt::format("the evaluator {}, unasked; it is started again", why));
    worker = {};
    return;
  }
  const std::size_t index = *worker.asked;
  worker = {};  // kills it, and all that it started
  const int attempts = round.attempts[index];
  note(fmt::format("trial {}: the evaluator {} (attempt {} of {})", round.requests[index].trial, why,
                   attempts, options_.retries + 1));
  if (attempts <= options_.retries) return round.waiting.push_front(index);
  if (!ever_answered_ && ++hopeless_ >= std::max(patience, options_.workers))
    fail(
        "--evaluate-with: {} has never answered; the last time it {}; expected lines such as "
        "{{\"id\": {}, \"latency\": 123.4}}",
        quote(options_.command), why, round.requests[index].trial);
  finish(round, index, {.failure = "the evaluator " + why, .attempts = attempts});
}

void ProcessEvaluator::finish(Round& round, std::size_t index, Measurement measured) {
  --round.left;
  round.answered(index, measured);
}

void ProcessEvaluator::stray(const std::string& what) {
  if (++strays_ <= most_notes_of_strays) note(fmt::format("the evaluator wrote {}; ignored", what));
  if (strays_ == most_notes_of_strays) note("more of these are ignored without a word");
}

void ProcessEvaluator::note(const std::string& text) const {
  if (options_.note) options_.note(text);
}

}  // namespace fuselage::oracle

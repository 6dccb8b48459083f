#include "measure.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string_view>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/search/monitor.h"
#include "report.h"

namespace fuselage::experiments {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void send(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(to, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string receive(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = ::read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

[[noreturn]] void be_child(int answer_to, const std::function<Json()>& work) {
  int code = 0;
  std::string answer;
  try {
    answer = work().dump();
  } catch (const std::exception& error) {
    code = 1;
    answer = error.what();
  }
  send(answer_to, answer);
  ::_exit(code);
}

Json to_json(const Measured& m) {
  return {{"found", m.found},
          {"cost", m.cost},
          {"lower_bound", m.lower_bound},
          {"optimal", m.optimal},
          {"proof", m.proof},
          {"stop", m.stop},
          {"steps", m.steps},
          {"seconds", m.seconds},
          {"first_plan", m.first_plan ? Json(*m.first_plan) : Json()}};
}

Measured from_json(const Json& json) {
  Measured m;
  m.found = json.at("found");
  m.cost = json.at("cost");
  m.lower_bound = json.at("lower_bound");
  m.optimal = json.at("optimal");
  m.proof = json.at("proof");
  m.stop = json.at("stop");
  m.steps = json.at("steps");
  m.seconds = json.at("seconds");
  if (!json.at("first_plan").is_null()) m.first_plan = json.at("first_plan").get<double>();
  return m;
}

}  // namespace

std::string Space::name() const {
  const std::string own(walk::name(rules));
  return order == walk::Order::free ? own + " free" : own;
}

Measured measure(const Workload& workload, const oracle::SolveOptions& options) {
  const Clock::time_point start = Clock::now();
  const oracle::Solution solution = oracle::solve(workload, options);
  Measured m;
  m.seconds = seconds_since(start);
  m.found = solution.found;
  m.cost = solution.cost;
  m.lower_bound = solution.lower_bound;
  m.optimal = solution.proof == search::Proof::optimal;
  m.proof = search::name(solution.proof);
  m.stop = fuselage::name(solution.stop);
  m.steps = solution.steps;
  return m;
}

Measured watch(const Workload& workload, oracle::SolveOptions options) {
  const Clock::time_point start = Clock::now();
  std::optional<double> first;
  search::Monitor monitor([&](const search::Event& event) {
    if (!first && event.cost < std::numeric_limits<double>::infinity()) first = seconds_since(start);
  });
  options.monitor = &monitor;
  Measured m = measure(workload, options);
  // An engine that reports only now and then may end before it does.
  m.first_plan = first || !m.found ? first : m.seconds;
  return m;
}

ChildAnswer in_child(const std::function<Json()>& work) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) fail("pipe: error {}; expected two file descriptors", errno);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) fail("fork: error {}; expected a child process", errno);
  if (child == 0) {
    ::close(pipe[0]);
    be_child(pipe[1], work);
  }
  ::close(pipe[1]);
  const std::string answer = receive(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) fail("child process: ended by signal {}; expected an answer", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) fail("child process: {}", answer);
  return {Json::parse(answer), std::int64_t{usage.ru_maxrss} * 1024};
}

Measured watch_in_child(const std::function<Workload()>& make, const oracle::SolveOptions& options) {
  try {
    const ChildAnswer answer = in_child([&] { return to_json(watch(make(), options)); });
    Measured m = from_json(answer.value);
    m.peak_bytes = answer.peak_bytes;
    return m;
  } catch (const Error& error) {
    say(error.what());
    Measured m;
    m.proof = search::name(search::Proof::none);
    m.stop = "killed";
    return m;
  }
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double smallest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace fuselage::experiments

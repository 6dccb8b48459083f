// Steps a second of the environment server, with this client on the same cores: many connections, one, and
// one that sends several actions a message; then many sessions that stay for a while, and what memory they
// leave.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "fuselage/core/error.h"
#include "load_client.h"
#include "report.h"
#include "table.h"

namespace fuselage::experiments {
namespace {

// The command's server as a process of its own.
class ServerProcess {
 public:
  ServerProcess() {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) fail("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(FUSELAGE_COMMAND, FUSELAGE_COMMAND, "serve", "--port", "0", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    std::string line;
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(ends[0]);
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos) fail("the server doesn't start: {}", line);
    port_ = static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1)));
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  std::uint16_t port() const { return port_; }
  double resident_mib() const {
    std::ifstream status(fmt::format("/proc/{}/status", pid_));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    return 0;
  }

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

double quantile(const std::vector<float>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
}

struct Options {
  std::string out, commit;
  double seconds = 5;
  int repeats = 3;
  int sessions = 2'000;
  double session_seconds = 60;
};

void add_row(Table& table, const std::string& name, const LoadOptions& load,
             const std::vector<LoadResult>& runs) {
  std::vector<double> rates;
  double p50 = 0, p99 = 0;
  std::uint64_t errors = 0;
  for (const LoadResult& run : runs) {
    rates.push_back(static_cast<double>(run.steps) / run.seconds);
    p50 = std::max(p50, quantile(run.latencies, 0.5));
    p99 = std::max(p99, quantile(run.latencies, 0.99));
    errors += run.errors;
  }
  std::sort(rates.begin(), rates.end());
  table.add({name, std::to_string(load.connections), std::to_string(load.batch),
             fixed(rates[rates.size() / 2], 0), fixed(rates.front(), 0), fixed(rates.back(), 0),
             fixed(p50 * 1e3, 3), fixed(p99 * 1e3, 3), std::to_string(errors)});
}

void run(const Options& options) {
  const ServerProcess server;
  Table speed(
      {"what", "connections", "actions a message", "steps/s", "min", "max", "p50 ms", "p99 ms", "errors"});
  const auto measure = [&](const std::string& name, LoadOptions load) {
    load.port = server.port();
    load.seconds = options.seconds;
    std::vector<LoadResult> runs;
    for (int i = 0; i < options.repeats; ++i) runs.push_back(run_load(load));
    add_row(speed, name, load, runs);
    say(name);
  };
  measure("many", {.connections = 64});
  measure("one", {.connections = 1});
  measure("one, batches", {.connections = 1, .batch = 8});
  measure("many, batches", {.connections = 64, .batch = 8});

  Table memory({"sessions", "seconds", "steps/s", "errors", "before MiB", "with them MiB", "after MiB"});
  if (options.sessions > 0) {
    const double before = server.resident_mib();
    double during = 0;
    LoadResult held;
    {
      std::jthread load([&] {
        held = run_load(
            {.port = server.port(), .connections = options.sessions, .seconds = options.session_seconds});
      });
      std::this_thread::sleep_for(std::chrono::duration<double>(options.session_seconds / 2));
      during = server.resident_mib();
    }
    std::this_thread::sleep_for(std::chrono::seconds(3));
    memory.add({std::to_string(options.sessions), fixed(held.seconds, 0),
                fixed(static_cast<double>(held.steps) / held.seconds, 0), std::to_string(held.errors),
                fixed(before, 1), fixed(during, 1), fixed(server.resident_mib(), 1)});
  }
  Report report{
      .rows = speed,
      .summary = {{"Steps a second, task4_mixed, full observations", speed}, {"Sessions that stay", memory}}};
  report.manifest["seconds"] = options.seconds;
  report.manifest["repeats"] = options.repeats;
  fmt::print("{}", text_of(report));
  if (!options.out.empty()) write(report, "serve", {options.out, options.commit});
}

}  // namespace
}  // namespace fuselage::experiments

int main(int argc, char** argv) {
  CLI::App app("Speed of the environment server");
  fuselage::experiments::Options options;
  app.add_option("--out", options.out, "directory of the tables");
  app.add_option("--commit", options.commit, "of the source");
  app.add_option("--seconds", options.seconds, "of each measurement");
  app.add_option("--repeats", options.repeats, "of each measurement");
  app.add_option("--sessions", options.sessions, "that stay; 0: none");
  app.add_option("--session-seconds", options.session_seconds, "that they stay");
  CLI11_PARSE(app, argc, argv);
  try {
    fuselage::experiments::run(options);
  } catch (const fuselage::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}

// Measurements by a program of the user's: a compiler and a board, a simulator, whatever can say how long a
// plan takes. It is started once for each worker, through /bin/sh -c, and then asked line by line:
//
//   to its stdin    {"id": 7, "plan": {...}}          a plan file (walk/plan_json.h) in one line; it stands
//                                                     alone, with graph and machine
//   on its stdout   {"id": 7, "latency": 123.4}       finite and above 0, in whatever unit
//                or {"id": 7, "error": "..."}         the plan can't be run: it is bad
//
// Programs that run other programs fail in every way there is, so everything is expected of them. An attempt
// fails if the program ends, closes its output, says nothing for too long, or says something that is no such
// line; the program and all that it started are then killed, and the plan is tried again on a new one. A plan
// that fails too often is bad. Its stderr is ours. It may end (with 0) after an answer, and is then started
// again for the next plan.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/oracle/evaluator.h"

namespace fuselage::oracle {

struct ProcessOptions {
  std::string command = {};
  int workers = 1;
  double timeout_seconds = 60;  // from asking to the answer, the program's start included
  int retries = 2;              // attempts after the first
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const std::string&)> note = {};  // what went wrong, and goes on anyway
};

class ProcessEvaluator : public Evaluator {
 public:
  // The workload must outlive it. Nothing is started yet.
  ProcessEvaluator(const Workload& workload, ProcessOptions options);
  // Lets the programs end for a moment, then kills them and all that they left behind.
  ~ProcessEvaluator() override;

  // Error, which says what the program did, if it can't be started or never gave an answer to anything.
  bool evaluate(std::span<const Request> requests, const Answered& answered) override;

  // Lines that answered nothing that was asked: an unknown id, or a second answer.
  std::int64_t strays() const { return strays_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker;
  struct Round;

  void assign(Round& round);
  void ask(Worker& worker, const Request& request);
  void wait();
  void write_to(Worker& worker);
  void read_from(Worker& worker, Round& round);
  void hear(Worker& worker, Round& round, std::string_view line);
  void ended(Worker& worker, Round& round);
  void fail_attempt(Worker& worker, Round& round, const std::string& why);
  void finish(Round& round, std::size_t index, Measurement measured);
  void stray(const std::string& what);
  void note(const std::string& text) const;
  void let_go();

  const Workload& workload_;
  ProcessOptions options_;
  std::vector<Worker> workers_;
  std::int64_t strays_ = 0;
  bool ever_answered_ = false;
  int hopeless_ = 0;  // plans that were given up before anything was ever answered
};

}  // namespace fuselage::oracle

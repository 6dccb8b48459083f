// Who says what a plan takes. A tuner (tune.h) asks for a few plans at a time and learns from the answers;
// whether they come from the roofline or from a program that runs them on hardware is not its business.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

struct Measurement {
  std::optional<double> latency = {};  // finite and > 0; none: the plan is bad, see `failure`
  std::string failure = {};
  int attempts = 1;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct Request {
  std::int64_t trial = 0;  // from 1; no two plans have the same
  const walk::Plan* plan = nullptr;
};

class Evaluator {
 public:
  using Answered = std::function<void(std::size_t index, const Measurement&)>;

  virtual ~Evaluator() = default;
  // Calls `answered` once for each request, in any order. False: told to stop, and some are not answered.
  virtual bool evaluate(std::span<const Request> requests, const Answered& answered) = 0;
};

// The independent check's price under `seed_honest`, in cycles. The workload must outlive it.
class RooflineEvaluator : public Evaluator {
 public:
  explicit RooflineEvaluator(const Workload& workload) : workload_(workload) {}
  bool evaluate(std::span<const Request> requests, const Answered& answered) override;

 private:
  const Workload& workload_;
};

}  // namespace fuselage::oracle

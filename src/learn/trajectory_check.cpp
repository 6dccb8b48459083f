#include <algorithm>
#include <cmath>
#include <span>

#include "fuselage/core/error.h"
#include "trajectory_layout.h"

namespace fuselage::learn {
namespace {

class Checker {
 public:
  Checker(const TrajectoryGroup& group, const Widths& widths, bool has_regret, const GroupPlace& place)
      : group_(group), widths_(widths), has_regret_(has_regret), place_(place) {}

  void check() const {
    const bool hex = group_.graph_hash.size() == hash_bytes &&
                     group_.graph_hash.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex) refuse("groups/hash", "is no hash", "64 hex digits in lower case");
    if (group_.name.empty() || group_.name.size() > name_bytes || group_.name.find('\0') != std::string::npos)
      refuse("groups/name", fmt::format("has {} bytes", group_.name.size()), "a text of 1 to 100 bytes");
    if (group_.split != split_of(group_.graph_hash))
      refuse(
          "groups/split", fmt::format("is {}", static_cast<int>(group_.split)),
          fmt::format("{} ({}), the split of its graph's hash", static_cast<int>(split_of(group_.graph_hash)),
                      split_names[static_cast<std::size_t>(split_of(group_.graph_hash))]));
    if (group_.schedules.size() < 2)
      refuse("groups/schedules", fmt::format("is {}", group_.schedules.size()),
             "2 or more: one schedule alone can't be compared");
    number("groups/mean_cycles", group_.mean_cycles, "a finite number >= 0");
    number("groups/best", group_.best, "a finite number >= 0");
    features("groups/workload", group_.workload, widths_.workload);
    for (std::size_t i = 0; i < group_.schedules.size(); ++i) schedule(i);
  }

 private:
  [[noreturn]] void refuse(std::string_view dataset, const std::string& problem,
                           const std::string& expected) const {
    fail("{}: {}: group {}: {}; expected {}", place_.source, dataset, place_.group, problem, expected);
  }
  void number(const char* dataset, double value, const char* expected) const {
    if (!std::isfinite(value) || value < 0) refuse(dataset, fmt::format("is {}", value), expected);
  }
  void features(const char* dataset, std::span<const float> numbers, std::size_t expected) const {
    if (numbers.size() != expected)
      refuse(dataset, fmt::format("has {} numbers", numbers.size()), fmt::format("{}", expected));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        refuse(dataset, fmt::format("number {} is {}", i, numbers[i]), "a finite number");
  }

  // What went wrong is in schedule i, where a word of context helps.
  [[noreturn]] void refuse_in(std::size_t i, std::string_view dataset, const std::string& problem,
                              const std::string& expected) const {
    refuse(dataset, fmt::format("schedule {}: {}", i, problem), expected);
  }
  void schedule(std::size_t i) const {
    const Trajectory& one = group_.schedules[i];
    const std::size_t n = one.size();
    if (n == 0) refuse_in(i, "schedules/tokens", "is 0", "1 or more");
    if (static_cast<std::size_t>(one.sampler) >= sampler_names.size())
      refuse_in(i, "schedules/sampler", fmt::format("is {}", static_cast<int>(one.sampler)), "0 to 3");
    rows(i, "tokens/features", one.tokens, n * widths_.token);
    rows(i, "states/features", one.states, (n + 1) * widths_.state);
    kernels(i, one);
    costs(i, one);
    if (has_regret_)
      regrets(i, one);
    else if (!one.regret.empty())
      refuse_in(i, "tokens/regret", "is there", "none, as the manifest says");
  }
  void rows(std::size_t i, const char* dataset, std::span<const float> numbers, std::size_t expected) const {
    if (numbers.size() != expected)
      refuse_in(i, dataset, fmt::format("has {} numbers", numbers.size()), fmt::format("{}", expected));
    for (float x : numbers)
      if (!std::isfinite(x)) refuse_in(i, dataset, fmt::format("holds {}", x), "finite numbers");
  }
  void kernels(std::size_t i, const Trajectory& one) const {
    if (one.kernel.size() != one.size())
      refuse_in(i, "tokens/kernel", fmt::format("has {} numbers", one.kernel.size()),
                fmt::format("{}", one.size()));
    std::int32_t before = -1;
    for (std::int32_t k : one.kernel) {
      if (k != before && k != before + 1)
        refuse_in(i, "tokens/kernel", fmt::format("{} after {}", k, before),
                  before < 0 ? "0" : fmt::format("{} or {}", before, before + 1));
      if (before < 0 && k != 0) refuse_in(i, "tokens/kernel", fmt::format("begins with {}", k), "0");
      before = k;
    }
  }
  void costs(std::size_t i, const Trajectory& one) const {
    const auto cost = [&](const char* dataset, double value) {
      if (!std::isfinite(value) || value < 0)
        refuse_in(i, dataset, fmt::format("is {}", value), "a finite number >= 0");
    };
    cost("schedules/latency", one.latency);
    for (double prefix : one.prefix_cost) cost("tokens/prefix_cost", prefix);
    if (one.prefix_cost.back() != one.latency)
      refuse_in(i, "tokens/prefix_cost", fmt::format("the last is {}", one.prefix_cost.back()),
                fmt::format("{}, the schedule's latency", one.latency));
  }
  void regrets(std::size_t i, const Trajectory& one) const {
    if (one.regret.size() != one.size())
      refuse_in(i, "tokens/regret", fmt::format("has {} numbers", one.regret.size()),
                fmt::format("{}", one.size()));
    for (double regret : one.regret)
      if (regret != unproven_regret && (!std::isfinite(regret) || regret < 0))
        refuse_in(i, "tokens/regret", fmt::format("holds {}", regret),
                  "finite numbers >= 0, or -1 where it isn't proven");
  }

  const TrajectoryGroup& group_;
  const Widths& widths_;
  bool has_regret_;
  const GroupPlace& place_;
};

}  // namespace

void check_group(const TrajectoryGroup& group, const Widths& widths, bool has_regret,
                 const GroupPlace& place) {
  Checker(group, widths, has_regret, place).check();
}

Split split_of(std::string_view graph_hash) {
  std::uint64_t number = 0;
  for (char c : graph_hash.substr(0, 15))
    number = number * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  const std::uint64_t part = number % 100;
  return part < 80 ? Split::train : part < 90 ? Split::validation : Split::test;
}

}  // namespace fuselage::learn

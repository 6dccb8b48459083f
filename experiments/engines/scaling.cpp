// How does the cost of a search grow with the graph? Mixed expert graphs of 100 to 100,000 nodes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "experiment.h"
#include "fuselage/core/json.h"
#include "measure.h"
#include "sets.h"

namespace fuselage::experiments {
namespace {

constexpr std::array sizes = {100, 300, 1'000, 3'000, 10'000, 30'000, 100'000};
constexpr double limit_seconds = 60;
constexpr std::array spaces = {seed_honest, seed, physical};

struct Point {
  double nodes = 0;
  Measured measured;
};

// The slope of log y over log x by least squares; nothing for fewer than two points.
std::string exponent(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 2) return "";
  double x_mean = 0;
  double y_mean = 0;
  for (const auto& [x, y] : points) {
    x_mean += std::log(x) / static_cast<double>(points.size());
    y_mean += std::log(y) / static_cast<double>(points.size());
  }
  double up = 0;
  double down = 0;
  for (const auto& [x, y] : points) {
    up += (std::log(x) - x_mean) * (std::log(y) - y_mean);
    down += (std::log(x) - x_mean) * (std::log(x) - x_mean);
  }
  return down > 0 ? fixed(up / down, 2) : "";
}

// Of the time of the searches that ended in a proof, of their steps, of the time to the first plan, and of
// the memory.
std::vector<std::string> exponents(const Space& space, const std::vector<Point>& points) {
  std::vector<std::pair<double, double>> time;
  std::vector<std::pair<double, double>> steps;
  std::vector<std::pair<double, double>> first;
  std::vector<std::pair<double, double>> memory;
  for (const auto& [nodes, m] : points) {
    if (m.first_plan) first.emplace_back(nodes, *m.first_plan);
    if (!m.optimal) continue;
    time.emplace_back(nodes, m.seconds);
    steps.emplace_back(nodes, static_cast<double>(std::max<std::uint64_t>(1, m.steps)));
    memory.emplace_back(nodes, static_cast<double>(m.peak_bytes));
  }
  return {space.name(),    fmt::format("{} of {}", time.size(), points.size()),
          exponent(time),  exponent(steps),
          exponent(first), exponent(memory)};
}

std::vector<std::string> row(const Space& space, int nodes, const Measured& m) {
  return {space.name(),
          std::to_string(nodes),
          m.found ? json_number(m.cost) : "",
          json_number(m.lower_bound),
          m.found ? percent(m.gap(), 4) : "",
          m.proof,
          std::to_string(m.steps),
          m.stop,
          m.first_plan ? milliseconds(*m.first_plan) : "",
          milliseconds(m.seconds),
          mebibytes(m.peak_bytes)};
}

// In a child: the peak memory of a process is at least what its parent holds.
nlohmann::ordered_json describe_large(std::span<const int> nodes) {
  const auto make = [&] {
    GraphSet set = {.name = "mixed expert", .seeds = std::to_string(large_seed), .samples = {}};
    for (int n : nodes) set.samples.push_back(large_graph(n));
    return nlohmann::json(describe(set));
  };
  return in_child(make).value;
}

}  // namespace

Report scaling(const Setting& setting) {
  const auto count = std::min(sizes.size(), static_cast<std::size_t>(setting.graphs.value_or(sizes.size())));
  const double seconds = setting.seconds.value_or(limit_seconds);
  const std::vector<std::string> columns = {"rules",         "nodes", "cost",    "bound",
                                            "gap_percent",   "proof", "steps",   "stop",
                                            "first_plan_ms", "ms",    "peak_mib"};
  Report report = {.rows = Table(columns), .summary = {}};
  Table fits({"rules", "proven", "time", "steps", "first plan", "memory"});
  for (const Space& space : spaces) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < count; ++i) {
      oracle::SolveOptions options = {.rules = space.rules, .order = space.order};
      options.threads = setting.threads;
      options.budget.wall_seconds = seconds;
      const Measured m = watch_in_child([&] { return large_graph(sizes[i]).workload; }, options);
      report.rows.add(row(space, sizes[i], m));
      points.push_back({static_cast<double>(sizes[i]), m});
      say(fmt::format("scaling: {}, {} nodes: {:.2f} s", space.name(), sizes[i], m.seconds));
    }
    fits.add(exponents(space, points));
  }
  report.manifest["sets"].push_back(describe_large(std::span(sizes).first(count)));
  report.manifest["budget"] = {{"seconds", seconds}};
  report.manifest["options"] = {{"engine", "auto"}, {"search_seed", 0}, {"threads", setting.threads}};
  report.summary = {
      {"Searches with auto", report.rows},
      {"Exponents k of n^k, fitted over the searches that ended in a proof (first plan: over all)",
       std::move(fits)}};
  return report;
}

}  // namespace fuselage::experiments

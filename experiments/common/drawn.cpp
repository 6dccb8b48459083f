#include "drawn.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::experiments {
namespace {

constexpr int draws_a_graph = 200;  // at most; a split has a tenth of the graphs, and some are drawn twice

double to_ten_digits(double cost) {
  const std::string text = fmt::format("{:.10g}", cost);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

struct Candidate {
  Workload workload;
  std::uint64_t seed;
};

std::vector<Drawn> schedules_of(std::vector<Candidate> candidates, int schedules, int threads) {
  std::vector<std::optional<oracle::DrawnSchedules>> found(candidates.size());
  in_parallel(threads, candidates.size(), [&](std::size_t i) {
    found[i] =
        oracle::draw_schedules(candidates[i].workload, {.schedules = schedules, .seed = candidates[i].seed});
  });
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (found[i]) drawn.push_back({std::move(candidates[i].workload), std::move(*found[i])});
  return drawn;
}

}  // namespace

void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

std::vector<Drawn> draw(const Draw& options, int threads) {
  search::SplitMix seeds(options.seed);
  std::set<std::string> hashes;
  std::vector<Drawn> drawn;
  int draws = 0;
  while (static_cast<int>(drawn.size()) < options.count) {
    std::vector<Candidate> candidates;
    while (static_cast<int>(drawn.size() + candidates.size()) < options.count) {
      if (++draws > draws_a_graph * options.count)
        fail("{}: of {} graphs drawn only {} can be used; expected {}", options.name, draws,
             drawn.size() + candidates.size(), options.count);
      const std::uint64_t seed = seeds.next();
      Workload workload = oracle::draw_workload(options.graphs, seed);
      const std::string hash = oracle::graph_hash(workload.graph);
      if (options.split && learn::split_of(hash) != *options.split) continue;
      if (hashes.insert(hash).second) candidates.push_back({std::move(workload), seed});
    }
    for (Drawn& one : schedules_of(std::move(candidates), options.schedules, threads))
      drawn.push_back(std::move(one));
  }
  return drawn;
}

std::vector<Drawn> schedules_of(std::vector<Workload> workloads, int schedules, int threads) {
  std::vector<Candidate> candidates;
  for (Workload& workload : workloads) {
    const std::uint64_t seed = candidates.size();
    candidates.push_back({std::move(workload), seed});
  }
  return schedules_of(std::move(candidates), schedules, threads);
}

Set empty_set(const std::string& name) {
  const learn::TrajectorySchemas schemas = oracle::walk_schemas();
  const auto tokens = static_cast<learn::Index>(schemas.token.size());
  return {.name = name,
          .schedules = {.features = tokens, .facts = static_cast<learn::Index>(schemas.workload.size())},
          .sequences = {.features = tokens, .facts = static_cast<learn::Index>(schemas.state.size())}};
}

void add(const learn::TrajectoryGroup& group, Set& set) {
  set.schedules.begin_group(group.workload);
  const auto number = static_cast<std::int64_t>(set.schedules.groups()) - 1;
  std::vector<float> increments;
  std::vector<char> settled;
  for (const learn::Trajectory& one : group.schedules) {
    increments.clear();
    double before = 0;
    for (const double cost : one.prefix_cost) {
      increments.push_back(static_cast<float>((cost - before) / group.mean_cycles));
      before = cost;
    }
    set.schedules.add(one.tokens, increments, to_ten_digits(one.latency));
    settled.assign(one.size() + 1, 1);
    for (std::size_t t = 1; t < one.size(); ++t) settled[t] = one.kernel[t] != one.kernel[t - 1];
    set.sequences.add(one.tokens, one.states, number, settled);
  }
}

Set set_of(const std::string& name, const std::vector<Drawn>& drawn) {
  Set set = empty_set(name);
  for (const Drawn& one : drawn) add(one.schedules.group, set);
  return set;
}

nlohmann::ordered_json describe(const Draw& options, const std::vector<Drawn>& drawn) {
  Sha256 hash;
  std::size_t schedules = 0, tokens = 0, proven = 0;
  for (const Drawn& one : drawn) {
    const learn::TrajectoryGroup& group = one.schedules.group;
    hash.update(group.graph_hash);
    for (const learn::Trajectory& schedule : group.schedules) {
      hash.update(fmt::format(" {:.10g}", schedule.latency));
      tokens += schedule.size();
    }
    schedules += group.schedules.size();
    proven += group.proven;
  }
  nlohmann::ordered_json json = {
      {"name", options.name},
      {"kind", oracle::name(options.graphs.kind)},
      {"ops", {options.graphs.min_ops, options.graphs.max_ops}},
      {"seed", options.seed},
      {"split", options.split ? learn::split_names[static_cast<std::size_t>(*options.split)] : "any"},
      {"graphs", drawn.size()},
      {"schedules", schedules},
      {"tokens", tokens},
      {"proven", proven},
      {"sha256", hash.hex_digest()}};
  return json;
}

}  // namespace fuselage::experiments

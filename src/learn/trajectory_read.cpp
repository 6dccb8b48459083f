#include <algorithm>
#include <numeric>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "trajectory_layout.h"

namespace fuselage::learn {
namespace {

// Of groups, and of one group's schedules and tokens: no data set has more, and memory is taken for these.
constexpr std::size_t most_groups = 10'000'000;
constexpr std::size_t most_schedules = 1'000'000;
constexpr std::size_t most_tokens = 10'000'000;

template <class T>
std::vector<T> read_all(const hdf5::Rows& rows, std::size_t begin, std::size_t count) {
  std::vector<T> numbers(count);
  rows.read(numbers.data(), begin, count);
  return numbers;
}

void check_schema(const hdf5::File& file, const char* attribute, const Schema& schema) {
  const std::string found = file.text(attribute);
  if (found == schema.fingerprint()) return;
  constexpr std::size_t digits = 16;  // enough to tell two apart
  fail(
      "{}: attribute {}: {}; expected \"{}\", as the fingerprint of {} version {} begins: make the file anew",
      file.path(), attribute, quote(found.substr(0, digits)), schema.fingerprint().substr(0, digits),
      schema.name(), schema.version());
}

}  // namespace

struct TrajectoryReader::File {
  hdf5::File file;
  Widths widths;
  TrajectoryManifest manifest;
  TrajectoryRows rows;
  std::vector<std::int32_t> schedules;  // by group
  // Of the next group.
  std::size_t group = 0;
  std::size_t schedule = 0;
  std::size_t token = 0;

  void read_manifest(const TrajectorySchemas& schemas) {
    const std::string format = file.text("format");
    if (format != trajectory_format)
      fail("{}: attribute format: {}; expected \"{}\"", file.path(), quote(format), trajectory_format);
    const std::uint64_t version = file.integer("format_version");
    if (version != trajectory_version)
      fail("{}: attribute format_version: {}; expected {}", file.path(), version, trajectory_version);
    check_schema(file, "token_schema", schemas.token);
    check_schema(file, "state_schema", schemas.state);
    check_schema(file, "workload_schema", schemas.workload);
    manifest.program = file.text("program");
    manifest.family = file.text("family");
    manifest.rules = file.text("rules");
    manifest.kind = file.text("kind");
    manifest.seed = file.integer("seed");
    manifest.settings = file.text("settings");
    const std::uint64_t has_regret = file.integer("has_regret");
    if (has_regret > 1) fail("{}: attribute has_regret: {}; expected 0 or 1", file.path(), has_regret);
    manifest.has_regret = has_regret == 1;
  }

  void expect_rows(const hdf5::Rows& one, std::size_t expected, const std::string& because) const {
    if (one.size() != expected)
      fail("{}: {}: has {} rows; expected {}, {}", file.path(), one.name(), one.size(), expected, because);
  }

  // Do the sizes of the arrays go together?
  void check_sizes() {
    const std::size_t groups = rows.schedules.size();
    if (groups > most_groups)
      fail("{}: groups/schedules: has {} rows; expected at most {}", file.path(), groups, most_groups);
    for (const hdf5::Rows* one :
         {&rows.hash, &rows.name, &rows.split, &rows.mean_cycles, &rows.best, &rows.proven, &rows.workload})
      expect_rows(*one, groups, "one a group, as groups/schedules has");
    schedules = read_all<std::int32_t>(rows.schedules, 0, groups);
    std::size_t sum = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      if (schedules[g] < 2 || static_cast<std::size_t>(schedules[g]) > most_schedules)
        fail("{}: groups/schedules: group {}: is {}; expected 2 to {}: one schedule alone can't be compared",
             file.path(), g, schedules[g], most_schedules);
      sum += static_cast<std::size_t>(schedules[g]);
    }
    for (const hdf5::Rows* one : {&rows.tokens, &rows.sampler, &rows.latency})
      expect_rows(*one, sum, "the sum of groups/schedules");
    const std::size_t tokens = rows.prefix_cost.size();
    expect_rows(rows.features, tokens, "as tokens/prefix_cost has");
    expect_rows(rows.kernel, tokens, "as tokens/prefix_cost has");
    if (manifest.has_regret) expect_rows(rows.regret, tokens, "as tokens/prefix_cost has");
    expect_rows(rows.states, tokens + sum, "one a token and one a schedule");
  }

  // Token counts of the next group's schedules.
  std::vector<std::int32_t> token_counts() const {
    const auto count = static_cast<std::size_t>(schedules[group]);
    std::vector<std::int32_t> counts = read_all<std::int32_t>(rows.tokens, schedule, count);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (counts[i] < 1)
        fail("{}: schedules/tokens: row {}: is {}; expected 1 or more", file.path(), schedule + i, counts[i]);
      sum += static_cast<std::size_t>(counts[i]);
    }
    const bool last = group + 1 == schedules.size();
    const std::size_t left = rows.prefix_cost.size() - token;
    if (sum > most_tokens || sum > left || (last && sum != left))
      fail(
          "{}: schedules/tokens: group {}: the sum is {}; expected {} {}, the rows of tokens/prefix_cost "
          "left",
          file.path(), group, sum, last ? "exactly" : "at most", std::min(left, most_tokens));
    return counts;
  }

  Trajectory read_one(std::size_t n) {
    Trajectory one;
    one.sampler = static_cast<Sampler>(read_all<std::uint8_t>(rows.sampler, schedule, 1)[0]);
    one.latency = read_all<double>(rows.latency, schedule, 1)[0];
    one.tokens.resize(n * widths.token);
    rows.features.read(one.tokens.data(), token, n);
    one.states.resize((n + 1) * widths.state);
    rows.states.read(one.states.data(), token + schedule, n + 1);
    one.kernel = read_all<std::int32_t>(rows.kernel, token, n);
    one.prefix_cost = read_all<double>(rows.prefix_cost, token, n);
    if (manifest.has_regret) one.regret = read_all<double>(rows.regret, token, n);
    ++schedule;
    token += n;
    return one;
  }

  std::string text(const hdf5::Rows& one, std::size_t bytes) const {
    std::string result(bytes, '\0');
    one.read(result.data(), group, 1);
    result.resize(std::min(result.size(), result.find('\0')));
    return result;
  }
};

TrajectoryReader::TrajectoryReader(const std::string& path, const TrajectorySchemas& schemas)
    : file_(std::make_unique<File>()) {
  file_->file = hdf5::File::open(path);
  file_->widths = widths_of(schemas);
  file_->read_manifest(schemas);
  file_->rows.for_each(file_->widths, file_->manifest.has_regret,
                       [&](hdf5::Rows& rows, const char* name, const hdf5::RowType& type) {
                         rows = file_->file.open_rows(name, type);
                       });
  file_->check_sizes();
}

TrajectoryReader::~TrajectoryReader() = default;

const TrajectoryManifest& TrajectoryReader::manifest() const {
  return file_->manifest;
}

std::size_t TrajectoryReader::groups() const {
  return file_->schedules.size();
}

bool TrajectoryReader::next(TrajectoryGroup& group) {
  File& file = *file_;
  if (file.group == file.schedules.size()) return false;
  const TrajectoryRows& rows = file.rows;
  group = {};
  group.graph_hash = file.text(rows.hash, hash_bytes);
  group.name = file.text(rows.name, name_bytes);
  group.split = static_cast<Split>(read_all<std::uint8_t>(rows.split, file.group, 1)[0]);
  group.mean_cycles = read_all<double>(rows.mean_cycles, file.group, 1)[0];
  group.best = read_all<double>(rows.best, file.group, 1)[0];
  const std::uint8_t proven = read_all<std::uint8_t>(rows.proven, file.group, 1)[0];
  if (proven > 1)
    fail("{}: groups/proven: group {}: is {}; expected 0 or 1", file.file.path(), file.group, proven);
  group.proven = proven == 1;
  group.workload.resize(file.widths.workload);
  rows.workload.read(group.workload.data(), file.group, 1);
  for (std::int32_t count : file.token_counts())
    group.schedules.push_back(file.read_one(static_cast<std::size_t>(count)));
  check_group(group, file.widths, file.manifest.has_regret,
              {.source = file.file.path(), .group = file.group});
  ++file.group;
  return true;
}

void append_group(const TrajectoryGroup& group, Schedules& schedules) {
  schedules.begin_group(group.workload);
  std::vector<float> increments;
  for (const Trajectory& schedule : group.schedules) {
    increments.clear();
    double before = 0;
    for (double cost : schedule.prefix_cost) {
      increments.push_back(static_cast<float>((cost - before) / group.mean_cycles));
      before = cost;
    }
    schedules.add(schedule.tokens, increments, schedule.latency);
  }
}

Trajectories read_trajectories(const std::string& path, const TrajectorySchemas& schemas) {
  TrajectoryReader reader(path, schemas);
  Trajectories all = {.manifest = reader.manifest()};
  for (TrajectoryGroup group; reader.next(group);) all.groups.push_back(std::move(group));
  return all;
}

}  // namespace fuselage::learn

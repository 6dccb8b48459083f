#include "fuselage/oracle/replay.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/walk/rules.h"
#include "replay_episodes.h"
#include "replay_kinds.h"
#include "replay_lines.h"

namespace fuselage::oracle {
namespace {

enum class Kind : std::uint8_t {
  episode,
  observations,
  generator,
  optima,
  physical,
  physical_illegal,
  tasks,
  fusionops,
  mlsys
};
constexpr std::array<std::string_view, 9> kind_names = {"episodes", "observations", "generator",
                                                        "optima",   "physical",     "physical-illegal",
                                                        "tasks",    "fusionops",    "mlsys"};

bool is_task(const Json& json) {
  return json.is_object() && json.contains("config") && json.contains("graph");
}

// The field that tells a kind from the others; so a row that lacks another one is known for what it should
// be.
std::optional<Kind> kind_of(const JsonField& row) {
  if (row.has("problem") && row.has("steps")) return Kind::fusionops;
  if (row.has("problem") || row.has("solution")) return Kind::mlsys;
  if (row.has("kind")) return Kind::generator;
  if (row.has("code")) return Kind::physical_illegal;
  if (row.has("order") || row.has("feasible")) return Kind::physical;
  if (row.has("actions") || row.has("steps")) return Kind::episode;
  if (row.has("observations")) return Kind::observations;
  if (row.has(name(walk::Rules::seed)) || row.has(name(walk::Rules::seed_honest))) return Kind::optima;
  const Json& json = row.value();
  if (json.is_object() && !json.empty() && std::all_of(json.begin(), json.end(), is_task)) return Kind::tasks;
  return std::nullopt;
}

// What differences call a row.
std::string name_of(const JsonField& row) {
  for (const std::string_view key : {"name", "id"}) {
    const auto field = row.optional(key);
    if (field && field->value().is_string()) return field->string();
    if (field) return fmt::format("{} {}", key, read_int64(*field));
  }
  return {};
}

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
}

// Does a file that begins with this line hold one JSON value on many lines? A row of JSON Lines ends where
// its line ends.
bool begins_document(const std::string& path, std::string_view first_line) {
  return std::filesystem::path(path).extension() != ".jsonl" && trimmed(first_line).back() != '}';
}

}  // namespace

class Replay::Run {
 public:
  ReplayReport check(const std::string& path);

 private:
  struct Row {
    const std::string& path;
    std::string_view text;
    LinePlace place;
  };

  void check_line(const Row& row);
  void check_document(const std::string& path, LineReader& lines, std::string text, std::size_t first_line);
  void check_row(const JsonField& json, const Row& row);
  void check_kind(Kind kind, const JsonField& json, const Row& row, RowCheck& check);
  void check_tasks(const JsonField& json);
  void note(Kind kind, const RowCheck& check);

  EpisodePlaces episodes_;
  ReplayReport report_;
};

ReplayReport Replay::Run::check(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  report_ = {};
  LineReader lines(path);
  bool is_first = true;
  for (std::string line; lines.next(line);) {
    if (trimmed(line).empty()) continue;
    if (is_first && begins_document(path, line)) {
      check_document(path, lines, line, lines.place().number);
      break;
    }
    is_first = false;
    check_line({.path = path, .text = line, .place = lines.place()});
  }
  if (report_.rows.empty())
    fail("{}: holds no rows; expected golden figures as JSON Lines", source_name(path));
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(report_);
}

void Replay::Run::check_line(const Row& row) {
  const std::string file = source_name(row.path);
  const Json json = parse_golden(row.text, file, row.place.number);
  const std::string source = fmt::format("{}:{}", file, row.place.number);
  check_row(JsonField(json, source), row);
}

void Replay::Run::check_document(const std::string& path, LineReader& lines, std::string text,
                                 std::size_t first_line) {
  const std::string source = source_name(path);
  for (std::string line; lines.next(line);) {
    text += '\n' + line;
    if (text.size() > max_file_bytes)
      fail("{}: longer than {} bytes; expected a smaller file", source, max_file_bytes);
  }
  const Json json = parse_golden(text, source, first_line);
  check_row(JsonField(json, source), {.path = path, .text = text, .place = {.number = first_line}});
}

void Replay::Run::check_row(const JsonField& json, const Row& row) {
  const auto kind = kind_of(json);
  if (!kind)
    json.refuse(
        fmt::format("is a row of no known kind; expected the fields of one of {}", join_names(kind_names)));
  if (*kind == Kind::tasks) return check_tasks(json);
  RowCheck check(name_of(json));
  check_kind(*kind, json, row, check);
  note(*kind, check);
}

void Replay::Run::check_kind(Kind kind, const JsonField& json, const Row& row, RowCheck& check) {
  switch (kind) {
    case Kind::episode:
      replay_episode(json, check);
      return episodes_.add(row.path, json.required("id"), row.place);
    case Kind::observations: {
      const EpisodePlaces::Row episode = episodes_.find(json.required("id"), row.path);
      return replay_observations(json, JsonField(episode.json, episode.source), check);
    }
    case Kind::generator:
      return replay_generator(json, row.text, check);
    case Kind::optima:
      return replay_optima(json, check);
    case Kind::physical:
      return replay_physical(json, check);
    case Kind::physical_illegal:
      return replay_physical_illegal(json, check);
    case Kind::fusionops:
      return replay_fusionops(json, check);
    case Kind::mlsys:
      return replay_mlsys(json, check);
    case Kind::tasks:
      return check_tasks(json);
  }
}

void Replay::Run::check_tasks(const JsonField& json) {
  for (const auto& [task, value] : json.value().get_ref<const Json::object_t&>()) {
    RowCheck check;
    replay_task(json.required(task), task, check);
    note(Kind::tasks, check);
  }
}

void Replay::Run::note(Kind kind, const RowCheck& check) {
  ++report_.rows[std::string(kind_names[static_cast<std::size_t>(kind)])];
  ++(check.difference() ? report_.failed : report_.passed);
  if (check.difference() && report_.differences.size() < max_differences)
    report_.differences.push_back(*check.difference());
}

Replay::Replay() : run_(std::make_unique<Run>()) {}
Replay::~Replay() = default;

ReplayReport Replay::check(const std::string& path) {
  return run_->check(path);
}

std::vector<std::string> golden_files(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::filesystem::path& file = entry.path();
    const bool is_tasks = file.filename().string().starts_with("tasks") && file.extension() == ".json";
    if (entry.is_regular_file() && (is_tasks || file.extension() == ".jsonl")) files.push_back(file.string());
  }
  if (files.empty()) fail("{}: holds no golden files; expected *.jsonl or tasks*.json in it", path);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace fuselage::oracle

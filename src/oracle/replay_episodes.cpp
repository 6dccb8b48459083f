#include "replay_episodes.h"

#include <algorithm>
#include <filesystem>

#include "fuselage/core/error.h"
#include "replay_row.h"

namespace fuselage::oracle {
namespace {

// Names of the file that observations may refer to, the likeliest first.
std::vector<std::filesystem::path> names_beside(const std::filesystem::path& observations) {
  constexpr std::string_view theirs = "observations";
  std::string name = observations.filename().string();
  std::vector<std::filesystem::path> names;
  if (const auto at = name.rfind(theirs); at != std::string::npos)
    names.push_back(observations.parent_path() / name.replace(at, theirs.size(), "episodes"));
  names.push_back(observations.parent_path() / "episodes.jsonl");
  return names;
}

}  // namespace

void EpisodePlaces::add(const std::string& path, const JsonField& id, const LinePlace& place) {
  if (!std::filesystem::is_regular_file(path)) return;
  if (!files_.contains(path)) latest_last_.push_back(path);
  std::vector<LinePlace>& places = files_[path][read_int64(id)];
  const auto is_it = [&](const LinePlace& known) { return known.number == place.number; };
  if (std::none_of(places.begin(), places.end(), is_it)) places.push_back(place);
}

const std::string& EpisodePlaces::file_beside(const std::string& observations_path) {
  const auto [known, is_new] = besides_.try_emplace(observations_path);
  if (!is_new || observations_path == "-") return known->second;
  for (const std::filesystem::path& candidate : names_beside(observations_path)) {
    if (candidate == observations_path || !std::filesystem::is_regular_file(candidate)) continue;
    known->second = candidate.string();
    if (!files_.contains(known->second)) scan(known->second);
    break;
  }
  return known->second;
}

void EpisodePlaces::scan(const std::string& path) {
  LineReader lines(path);
  for (std::string line; lines.next(line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json json = parse_golden(line, path, lines.place().number);
    const std::string source = fmt::format("{}:{}", path, lines.place().number);
    const JsonField row(json, source);
    if (row.has("actions")) add(path, row.required("id"), lines.place());
  }
}

EpisodePlaces::Row EpisodePlaces::read(const std::string& path, const LinePlace& place) {
  LineReader lines(path, place);
  std::string line;
  lines.next(line);
  return {.json = parse_golden(line, path, place.number), .source = fmt::format("{}:{}", path, place.number)};
}

EpisodePlaces::Row EpisodePlaces::find(const JsonField& id_field, const std::string& observations_path) {
  const std::int64_t id = read_int64(id_field);
  std::vector<std::string> paths(latest_last_.rbegin(), latest_last_.rend());
  if (const std::string& beside = file_beside(observations_path); !beside.empty())
    paths.insert(paths.begin(), beside);
  for (const std::string& path : paths) {
    const auto found = files_[path].find(id);
    if (found == files_[path].end()) continue;
    const std::vector<LinePlace>& places = found->second;
    if (places.size() > 1)
      id_field.refuse(fmt::format("{} is the id of two episodes, {}:{} and line {}; expected one", id, path,
                                  places[0].number, places[1].number));
    return read(path, places[0]);
  }
  id_field.refuse(fmt::format(
      "{} is the id of no episode at hand; expected it in episodes.jsonl beside this file, or in a file of "
      "episodes named before this one",
      id));
}

}  // namespace fuselage::oracle

// What all reports have in common: the manifest's frame and the three files.

#include "report.h"

#include <cstdio>
#include <thread>

#include "fuselage/core/files.h"

namespace fuselage::experiments {
namespace {

using Json = nlohmann::ordered_json;

Json manifest(const Report& report, std::string_view name, const std::string& commit) {
  Json all = {{"experiment", name}, {"version", FUSELAGE_VERSION}};
  all["commit"] = commit.empty() ? Json() : Json(commit);
  all["compiler"] = FUSELAGE_COMPILER;
  all["flags"] = FUSELAGE_FLAGS;
  all["hardware_threads"] = std::thread::hardware_concurrency();
  all.update(report.manifest);
  return all;
}

}  // namespace

void write(const Report& report, std::string_view name, const Place& place) {
  const std::string stem = place.directory + "/" + std::string(name);
  std::string page = "# " + std::string(name) + "\n";
  for (const Titled& titled : report.summary) page += "\n" + titled.title + "\n\n" + titled.table.markdown();
  write_file_atomically(stem + ".csv", report.rows.csv());
  write_file_atomically(stem + ".md", page);
  write_file_atomically(stem + ".json", manifest(report, name, place.commit).dump(2) + "\n");
}

std::string text_of(const Report& report) {
  std::string text;
  for (const Titled& titled : report.summary) text += titled.title + "\n" + titled.table.text() + "\n";
  return text;
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace fuselage::experiments

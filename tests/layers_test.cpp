// Which folder may include which (CONTRIBUTING.md, "Layers"): checked on the text of every source file.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace fuselage {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>>& allowed() {
  static const std::map<std::string, std::set<std::string>> table = {
      {"core", {"core"}},
      {"graph", {"core", "graph"}},
      {"search", {"core", "search"}},
      {"learn", {"core", "learn", "search/guide.h", "search/problem.h", "search/split_mix.h"}},
      {"walk", {"core", "graph", "walk", "search/problem.h"}},
      {"grid", {"core", "grid", "search/problem.h"}},
      {"oracle", {"core", "graph", "search", "walk", "grid", "learn", "oracle"}},
      {"serve", {"core", "graph", "search/split_mix.h", "walk", "grid", "oracle", "serve"}},
      {"report", {"core", "graph", "search/outcome.h", "walk", "grid", "oracle", "report"}},
      {"mlsys", {"core", "grid", "oracle"}},
      {"cli", {"core", "graph", "search", "learn", "walk", "grid", "oracle", "serve", "report"}},
  };
  return table;
}

// "walk/plan.h" for a line that includes "fuselage/walk/plan.h".
std::optional<std::string> included_header(const std::string& line) {
  static const std::string prefix = "#include \"fuselage/";
  if (line.rfind(prefix, 0) != 0) return std::nullopt;
  return line.substr(prefix.size(), line.find('"', prefix.size()) - prefix.size());
}

void check_file(const fs::path& path, const std::string& layer, int& includes) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto header = included_header(line);
    if (!header) continue;
    ++includes;
    const auto& may = allowed().at(layer);
    EXPECT_TRUE(may.count(*header) || may.count(header->substr(0, header->find('/'))))
        << path << " (" << layer << ") includes " << *header;
  }
}

TEST(Layers, includes_point_down) {
  int includes = 0;
  for (const char* root : {"include/fuselage", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FUSELAGE_SOURCE_DIR) / root)) {
      if (!entry.is_regular_file()) continue;
      const std::string layer = entry.path().parent_path().filename().string();
      ASSERT_TRUE(allowed().count(layer)) << entry.path() << " lies in no known layer";
      check_file(entry.path(), layer, includes);
    }
  }
  EXPECT_GT(includes, 50);
}

// The independent check shares no code with the search or the episode.
TEST(Layers, simulate_knows_plans_and_rules_only) {
  const std::set<std::string> may = {"core/error.h", "graph/graph.h", "graph/hardware.h", "graph/op.h",
                                     "walk/plan.h",  "walk/rules.h",  "oracle/simulate.h"};
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(FUSELAGE_SOURCE_DIR) / "src/oracle")) {
    if (entry.path().filename().string().rfind("simulate", 0) != 0) continue;
    ++files;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const auto header = included_header(line);
      if (!header) continue;
      EXPECT_TRUE(may.count(*header)) << entry.path() << " includes " << *header;
    }
  }
  EXPECT_GE(files, 3);
}

}  // namespace
}  // namespace fuselage

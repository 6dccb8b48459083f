#include "plan_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "fuselage/core/error.h"

namespace fuselage::cli {
namespace {

class PlanNames {
 public:
  std::string next(const std::string& name) {
    std::string stem = name;
    for (char& c : stem)
      if (!is_plain(c)) c = '_';
    if (stem.empty() || stem.front() == '.') stem.insert(0, "_");
    std::string candidate = stem;
    for (int copy = 2; !taken_.insert(candidate).second; ++copy) candidate = fmt::format("{}-{}", stem, copy);
    return candidate + ".json";
  }

 private:
  static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || (static_cast<unsigned char>(c) & 0x80U) != 0;
  }
  std::set<std::string> taken_;
};

}  // namespace

std::vector<std::string> plan_paths(const std::vector<std::string>& names, const std::string& out,
                                    const std::vector<std::string>& targets) {
  PlanNames plain;
  std::vector<std::string> paths(names.size());
  if (out.empty()) return paths;
  std::error_code missing;
  const bool is_file = out.ends_with(".json") && !std::filesystem::is_directory(out, missing);
  if (is_file && names.size() > 1)
    fail("--out: {} is one file, for the plans of {} targets; expected a directory", out, names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    paths[i] = is_file ? out : (std::filesystem::path(out) / plain.next(names[i])).string();
    for (const std::string& target : targets)
      if (std::filesystem::equivalent(paths[i], target, missing))
        fail("--out: {} is a target, which a plan would replace; expected another {}", paths[i],
             is_file ? "file" : "directory");
  }
  return paths;
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  return path.substr(0, path.size() - std::string_view(".json").size()) + suffix + ".json";
}

}  // namespace fuselage::cli

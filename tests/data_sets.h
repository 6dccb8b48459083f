// Data sets as directories: what is in them, and how to forge them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "fuselage/core/hash.h"

namespace fuselage {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// All files of a directory, hidden ones and empty folders too, by their path within it.
inline std::map<std::string, std::string> tree_of(const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    files[entry.path().lexically_relative(directory).string()] =
        entry.is_directory() ? "a folder" : file_text(entry.path());
  return files;
}

// Names in which two trees differ, so that a failure doesn't print whole files.
inline std::string difference_of(const std::map<std::string, std::string>& a,
                                 const std::map<std::string, std::string>& b) {
  std::string names;
  for (const auto& [name, text] : a)
    if (const auto at = b.find(name); at == b.end() || at->second != text) names += name + " ";
  for (const auto& [name, text] : b)
    if (!a.contains(name)) names += name + " ";
  return names;
}

inline std::vector<nlohmann::ordered_json> rows_in(const std::string& text) {
  std::vector<nlohmann::ordered_json> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) throw std::runtime_error("a line has no end");
    rows.push_back(nlohmann::ordered_json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return rows;
}

// Changes a row of a file, and the manifest so that hash and size are right again.
inline void forge_row(const std::filesystem::path& directory, const std::string& name, std::size_t line,
                      const std::function<void(nlohmann::ordered_json&)>& change) {
  std::vector<nlohmann::ordered_json> rows = rows_in(file_text(directory / name));
  change(rows.at(line));
  std::string text;
  for (const auto& row : rows) text += row.dump() + "\n";
  std::ofstream(directory / name, std::ios::binary) << text;
  auto manifest = nlohmann::ordered_json::parse(file_text(directory / "manifest.json"));
  for (auto& shard : manifest.at("shards"))
    for (auto& file : shard.at("files")) {
      const std::string start =
          file.at("format").get<std::string>() + "/" + file.at("split").get<std::string>();
      if (!name.starts_with(start)) continue;
      file.at("bytes") = text.size();
      file.at("sha256") = sha256_hex(text);
    }
  std::ofstream(directory / "manifest.json") << manifest.dump(1) << "\n";
}

}  // namespace fuselage

#include "oracle_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/utf8.h"

namespace fuselage::cli {

namespace fs = std::filesystem;

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    if (end == text.size()) return items;
    begin = end + 1;
  }
}

void OracleInputs::note(const std::string& file, const std::string& text) {
  if (!is_utf8(file)) fail("{}: is not UTF-8; expected a name that a manifest can hold", quote(file));
  noted_[file] = sha256_hex(text);
}

std::vector<OracleInputs::File> OracleInputs::read(const std::string& input,
                                                   const std::vector<std::string>& endings) {
  word("--input " + input);
  std::vector<std::string> names;
  std::error_code error;
  if (fs::is_directory(input, error)) {
    for (const auto& entry : fs::directory_iterator(input))
      if (std::find(endings.begin(), endings.end(), entry.path().extension()) != endings.end())
        names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    if (names.empty()) fail("--input: {} holds no *{}; expected graphs", input, fmt::join(endings, " or *"));
  } else {
    names.push_back(input);
  }
  std::vector<File> files;
  for (const std::string& name : names) {
    files.push_back({.name = name, .text = read_file(name)});
    note(name, files.back().text);
  }
  return files;
}

}  // namespace fuselage::cli

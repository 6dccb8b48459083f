#include "store_option.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "fuselage/core/error.h"
#include "options.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

namespace fs = std::filesystem;

// The XDG base directory specification has relative paths ignored.
std::optional<fs::path> directory_of(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || !fs::path(value).is_absolute()) return std::nullopt;
  return value;
}

}  // namespace

void add_store_option(CLI::App& app, std::string& file) {
  const auto set = [&file](const std::string& text) {
    if (text.empty()) fail("--store: \"\" is no file name; expected the file of a store");
    file = text;
  };
  add_text(app, {"--store", "FILE", "the file of the store; default: the one in the user's data directory"},
           set);
}

std::string store_path(const std::string& file) {
  if (!file.empty()) return file;
  const fs::path name = fs::path("fuselage") / "best.sqlite";
  if (const auto data = directory_of("XDG_DATA_HOME")) return (*data / name).string();
  if (const auto home = directory_of("HOME")) return (*home / ".local" / "share" / name).string();
  fail("--store: neither XDG_DATA_HOME nor HOME names a directory; expected --store FILE");
}

oracle::StorePatience store_patience() {
  return {.most_seconds = 20, .quiet_seconds = 1, .notice = print_note};
}

oracle::StorePatience passing_patience() {
  return {.most_seconds = 5, .quiet_seconds = 1, .notice = print_note};
}

std::optional<oracle::Store> open_store_to_read(const std::string& file, oracle::StorePatience patience) {
  const std::string path = store_path(file);
  std::error_code error;
  if (file.empty() && !fs::exists(path, error) && !error) return std::nullopt;
  return oracle::Store(path, oracle::Access::read, std::move(patience));
}

}  // namespace fuselage::cli

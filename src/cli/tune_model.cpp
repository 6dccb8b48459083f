#include "tune_model.h"

#include <filesystem>
#include <system_error>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/bundle.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

namespace fs = std::filesystem;

std::string file_of(const std::string& given) {
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return given;
  for (const std::string_view name : {oracle::walk_schedules_file, std::string_view("model.safetensors")})
    if (fs::is_regular_file(fs::path(given) / name, ignored)) return (fs::path(given) / name).string();
  fail("--model: {} has no model; expected {} or model.safetensors in it", quote(given),
       oracle::walk_schedules_file);
}

}  // namespace

TuneModel read_tune_model(const std::string& given) {
  if (given == "none") return {};
  const std::string chosen = given.empty() ? oracle::find_default_bundle() : given;
  if (chosen.empty()) {
    print_note("no model at models/default: proposals are not filtered (--model PATH, or none)");
    return {};
  }
  TuneModel model;
  model.path = file_of(chosen);
  model.fingerprint = sha256_hex(read_file(model.path));
  std::error_code ignored;
  if (fs::is_regular_file(fs::path(chosen) / "bundle.json", ignored))
    oracle::read_bundle(chosen);  // checks it
  model.model = learn::ScheduleModel::load(model.path, oracle::schedule_fingerprints());
  return model;
}

}  // namespace fuselage::cli

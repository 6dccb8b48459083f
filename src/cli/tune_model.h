// Which model filters the proposals of a tuner.
#pragma once

#include <optional>
#include <string>

#include "fuselage/learn/schedule_model.h"

namespace fuselage::cli {

struct TuneModel {
  std::string path = {};         // of the file; empty: no model
  std::string fingerprint = {};  // SHA-256 of the file
  std::optional<learn::ScheduleModel> model = {};
};

// `given`: a file as 'fuselage train' writes it, a directory with one, a bundle, or "none". Empty: the bundle
// models/default beside the program or in a directory above it; if there is none, no model, and a note that
// says so. Error if a model that was named can't be read or fits other features.
TuneModel read_tune_model(const std::string& given);

}  // namespace fuselage::cli

// `fuselage train` of a whole bundle: from a seed to a directory that guides searches (oracle/bundle.h).
#pragma once

#include <string>

#include "train_config.h"

namespace fuselage::cli {

// Works in OUT.partial, stage by stage, and renames it to OUT at the end; what was in OUT before, if that was
// a bundle, is replaced. The exit code; interrupted, the same call goes on with the stage that it was in.
int train_bundle(const TrainConfig& config, const std::string& config_text, const std::string& out,
                 bool json);

}  // namespace fuselage::cli

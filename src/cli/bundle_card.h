// The card of a bundle: what its models are, were trained on, and are worth, from the figures measured.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fuselage::cli {

// `metrics` as train_bundle measures them.
std::string bundle_card(const nlohmann::ordered_json& metrics, const std::string& program);

}  // namespace fuselage::cli

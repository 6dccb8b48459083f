// What the reports of searches have in common: words for proofs and budgets, and figures that may not exist.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/core/budget.h"
#include "fuselage/search/outcome.h"

namespace fuselage::cli {

// "optimal", "best of space, gap 3.2%", "not proven, gap 0.0041%".
std::string proof_words(search::Proof proof, double gap);
// How much dearer than the best plan known before, in percent; below zero: a new best, "-": none was known.
std::string known_words(double cost, const std::optional<double>& known);
// What ended the search, in the words of the command line: "--steps".
std::string_view ended_by(StopReason stop);

// Null for what is not finite, not there, empty or unlimited.
nlohmann::ordered_json number_or_null(double value);
nlohmann::ordered_json number_or_null(const std::optional<double>& value);
nlohmann::ordered_json text_or_null(const std::string& text);
// {steps, bytes, seconds}
nlohmann::ordered_json budget_json(const Budget& budget);

// A document as commands print it.
std::string dump(const nlohmann::ordered_json& json);

}  // namespace fuselage::cli

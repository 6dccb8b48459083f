// Figures as people read them: thousands apart, units said. Programs get theirs from --json, unrounded.
#pragma once

#include <optional>
#include <string>

#include "fuselage/core/figures.h"

namespace fuselage::cli {

using fuselage::cycles;
using fuselage::grouped;
std::string cycles(const std::optional<double>& value);  // "-" for none
// A fraction in percent without the sign: 0.0573 is "5.73".
std::string percent(double fraction);
std::string decimal(double value);                        // a score or reward, three decimals; never "-0.000"
std::string decimal(const std::optional<double>& value);  // "-" for none
// How far from proven: a fraction in percent, never rounded to nothing. "3.2%", "0.0041%".
std::string gap_percent(double fraction);
// The same without the sign and with so many decimals, for columns: "3.217", "<0.001", and "0.000" only where
// the bound meets the cost.
std::string gap_figure(double cost, double lower_bound, int decimals);
std::string duration(double seconds);  // "0.4 ms", "12.31 s"

}  // namespace fuselage::cli

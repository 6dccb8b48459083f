// Figures as people read them: thousands apart.
#pragma once

#include <cstdint>
#include <string>

namespace fuselage {

std::string grouped(std::int64_t count);  // "12,345"
std::string grouped(std::uint64_t count);
// Two decimals, "1,910,476.16"; figures beyond 1e15 have an exponent.
std::string cycles(double value);

}  // namespace fuselage

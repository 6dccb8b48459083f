// How much one picture shows: of more, nobody can tell the parts apart, or wants them in a file. Those who
// read tables stop at the first one too many.
#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage::report {

inline constexpr std::size_t most_panels = 12;
inline constexpr std::size_t most_series = 40;  // in a panel
inline constexpr std::size_t most_categories = 60;
inline constexpr std::size_t most_points = 200'000;

// Error if there are more than `most` of `what`.
void check_count(std::string_view what, std::size_t count, std::size_t most);

}  // namespace fuselage::report

// The page without its data: page.html with styles, scripts and d3 in it, as CMake put them together.
#pragma once

#include <string_view>

namespace fuselage::report {

std::string_view page_template();

}  // namespace fuselage::report

// Names are whatever users wrote, or what files are called: markup, quotes, control characters, ten thousand
// letters, text that runs from right to left, bytes that are no text. In a drawing they are a label and
// nothing else: one line that is UTF-8, that XML and JSON can hold, and that is the same wherever it is shown
// (the page's script does the same).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage::report {

// At most `most` (at least 1) characters, cut with an ellipsis. White space and control characters become one
// space for each run of them, and none at the ends; marks that turn the direction of text (U+061C, U+200E,
// U+200F, U+202A to U+202E, U+2066 to U+2069) go away; what is no UTF-8, and characters that Unicode says are
// none, become U+FFFD.
std::string label_of(std::string_view text, std::size_t most);

}  // namespace fuselage::report

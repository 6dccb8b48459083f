// Names are whatever users wrote: markup, quotes, control characters, ten thousand letters, text that runs
// from right to left. In a drawing they are a label and nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage::report {

// At most `most` characters (code points), cut with an ellipsis; control characters, and what XML can't hold,
// become U+FFFD. `text` must be UTF-8.
std::string label_of(std::string_view text, std::size_t most);

}  // namespace fuselage::report

// Labels (label.h) as a plot shows them: about as wide as `text_width` says, and kept from gnuplot.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage::report {

// Pixels, at 12 pixels a line, of a sans-serif font; rather too many than too few.
double text_width(std::string_view utf8);

std::string xml_escaped(std::string_view text);

// Placeholders for texts (gnuplot.h).
class Placeholders {
 public:
  // Of a label; nothing for nothing. Error if there are more than 6,400 texts.
  std::string add(const std::string& text);
  std::vector<std::string> take() && { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

// With every run of a placeholder's character replaced by its text, escaped for XML.
std::string with_texts(std::string_view svg, const std::vector<std::string>& texts);

}  // namespace fuselage::report

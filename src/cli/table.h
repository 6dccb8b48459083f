// Tables for people: columns as wide as their widest cell, numbers to the right, two spaces between.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage::cli {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::right;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  // As many cells as there are columns.
  void add(std::vector<std::string> cells);
  // The header and the rows, a line each, without spaces at the end of a line.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Characters of UTF-8 text, which is what a terminal lines up.
std::size_t width(std::string_view text);

}  // namespace fuselage::cli

// One table in three forms: aligned text for a terminal, CSV for programs, Markdown for the page that links
// to it. Cells are text already; how a number is rounded is the experiment's business.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fuselage::experiments {

class Table {
 public:
  Table() = default;
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<std::string> cells);

  std::string text() const;
  std::string csv() const;
  std::string markdown() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Cells. `percent` of a share: 0.0123 is "1.23"; negligible ones are "0".
std::string percent(double share, int decimals = 3);
std::string fixed(double value, int decimals);
std::string milliseconds(double seconds);
std::string mebibytes(std::int64_t bytes);
inline std::string yes_no(bool is) {
  return is ? "yes" : "no";
}

}  // namespace fuselage::experiments

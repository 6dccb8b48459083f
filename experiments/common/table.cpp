#include "table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "fuselage/core/csv.h"

namespace fuselage::experiments {
namespace {

using Cells = std::vector<std::string>;

std::string markdown_line(const Cells& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + '\n';
}

// The first column to the left, figures to the right.
std::string text_line(const Cells& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c)
    line +=
        c == 0 ? fmt::format("{:<{}}", cells[c], widths[c]) : fmt::format("  {:>{}}", cells[c], widths[c]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const std::string& column : columns_) widths.push_back(column.size());
  for (const Cells& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  return widths;
}

std::string Table::text() const {
  std::string text = text_line(columns_, widths());
  for (const Cells& row : rows_) text += text_line(row, widths());
  return text;
}

std::string Table::csv() const {
  std::string text = csv_line(columns_);
  for (const Cells& row : rows_) text += csv_line(row);
  return text;
}

std::string Table::markdown() const {
  std::string text = markdown_line(columns_);
  text += "|";
  for (std::size_t c = 0; c < columns_.size(); ++c) text += c == 0 ? "---|" : "--:|";
  text += '\n';
  for (const Cells& row : rows_) text += markdown_line(row);
  return text;
}

std::string percent(double share, int decimals) {
  return std::abs(share) < 1e-9 ? "0" : fmt::format("{:.{}f}", 100 * share, decimals);
}

std::string fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", value, decimals);
}

std::string milliseconds(double seconds) {
  return fixed(1e3 * seconds, 2);
}

std::string mebibytes(std::int64_t bytes) {
  return fixed(static_cast<double>(bytes) / (1 << 20), 1);
}

}  // namespace fuselage::experiments

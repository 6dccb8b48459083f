// Whatever a table holds, reading it ends in rows as long as the names or in an Error; and what was read is
// written so that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuselage/core/csv.h"
#include "fuselage/core/error.h"

using namespace fuselage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::optional<CsvTable> table;
  try {
    table.emplace(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.csv", "a,b");
  } catch (const Error&) {
    return 0;
  }
  std::string text = csv_line(table->names());
  for (const CsvRow& row : table->rows()) {
    if (row.fields.size() != table->names().size()) std::abort();
    text += csv_line(row.fields);
    try {
      for (std::size_t column = 0; column < row.fields.size(); ++column) table->number(row, column);
    } catch (const Error&) {
    }
  }
  const CsvTable again(text, "again.csv", "a,b");
  if (again.names() != table->names() || again.rows().size() != table->rows().size()) std::abort();
  for (std::size_t i = 0; i < again.rows().size(); ++i)
    if (again.rows()[i].fields != table->rows()[i].fields) std::abort();
  return 0;
}

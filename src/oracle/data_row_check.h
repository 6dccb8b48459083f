// Plays a row of a data set again, from the graph's row and the rules alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/budget.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/data_rows.h"

namespace fuselage::oracle {

// What rows of one graph are checked against.
class GraphCheck {
 public:
  virtual ~GraphCheck() = default;
  // What is wrong with a row of the graph; none if all is well. Error for a row without its columns.
  virtual std::optional<std::string> fault_of(RowFormat format, const JsonField& row) = 0;
};

struct CheckOptions {
  Budget budget = {};       // of one search; grid: only its `cancel`, the data set says the rest
  std::string system = {};  // the data set's instructions
  double threshold = 0;     // grid: as the data set's manifest
  std::string labels = {};
};

// Error with the row's source for one that is no row of `graphs`.
std::unique_ptr<GraphCheck> walk_check(const JsonField& graph_row, const CheckOptions& options);
std::unique_ptr<GraphCheck> grid_check(const JsonField& graph_row, const CheckOptions& options);

// The observation that a row shows. Error if there is anything about it but the instructions, or if messages
// are not those of a question (and of an answer, for sft).
std::string_view observation_of(const JsonField& row, RowFormat format, std::string_view system);
// The text of an answer in either form.
const std::string& answer_of(const JsonField& row, std::string_view key);

// A JSON list of texts within a text.
std::vector<std::string> texts_of(const JsonField& field);

}  // namespace fuselage::oracle

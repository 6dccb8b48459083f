// What the parts of the store share about records: reading back what record_to_line writes, and when two
// costs count as equal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/core/json.h"
#include "fuselage/oracle/store.h"

namespace fuselage::oracle {

// One line of a text, with its number from 1.
struct Line {
  std::size_t number = 1;
  std::string_view text;
};

// What messages call it: "best.jsonl:3".
std::string name_of(const Line& line, const std::string& source);

// Checks form and types; whether the record is true is for checked_plan to say.
Record read_record(const Line& line, const std::string& source);

// The proof that a name stands for; none if there is no such name.
std::optional<search::Proof> parse_proof(std::string_view text);

// Whether the fields that every record has are in range, and whether cost, bound and proof agree.
void check_form(const Record& record, const std::string& where);
void check_cost(const Record& record, const std::string& where);

// Whether the plan of a true record costs what is claimed, prices included.
bool is_cost_confirmed(const Record& record);

// Exact, and the same text for both zeros, which cost the same: numbers of keys.
std::string bits(double value);

// The text of a grid record's plan, from {"problem": ..., "solution": ...} and back.
std::string read_grid_plan_text(const JsonField& field);

}  // namespace fuselage::oracle

// What the kinds of golden rows share: comparing a recorded figure with ours, and reading plans and actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/core/json.h"
#include "fuselage/graph/graph.h"
#include "fuselage/walk/plan.h"

namespace fuselage::oracle {

// Compares the figures of one row and keeps the first difference. Comparing reads the recorded figure, so
// that a malformed one is an Error even after a difference.
class RowCheck {
 public:
  // `name` is what differences call the row, such as "id 7"; may be empty.
  explicit RowCheck(std::string name = {}) : name_(std::move(name)) {}

  void number(const JsonField& expected, double got);  // bit for bit
  void number_or_null(const JsonField& expected, std::optional<double> got);
  // Within 1e-9 relative, for optima: equally good plans differ in the order of their sums.
  void optimum(const JsonField& expected, double got);
  void integer(const JsonField& expected, std::int64_t got);
  void integer_or_null(const JsonField& expected, std::optional<std::int64_t> got);
  void flag(const JsonField& expected, bool got);
  void text(const JsonField& expected, std::string_view got);
  void text_or_null(const JsonField& expected, std::optional<std::string_view> got);
  void ids(const JsonField& expected, std::span<const NodeId> got);
  void ids_in_any_order(const JsonField& expected, std::span<const NodeId> got);  // `got` is sorted

  // For what isn't one figure.
  void differs(const JsonField& at, std::string_view message);
  // Differs with the message unless `holds`.
  void expect(bool holds, const JsonField& at, std::string_view message) {
    if (!holds) differs(at, message);
  }

  const std::optional<std::string>& difference() const { return difference_; }

 private:
  void compare_ids(const JsonField& at, std::span<const std::int64_t> expected, std::span<const NodeId> got);
  void record(const JsonField& expected, std::string_view wanted, std::string_view got);

  std::string name_;
  std::optional<std::string> difference_;
};

// One row, or one file of them. Messages call its first line `first_line`. A negative slow_mem_bandwidth,
// which readers of graphs refuse as a mistake, is in recorded figures what the rules say of it, free traffic:
// it becomes 0.
Json parse_golden(std::string_view text, const std::string& source, std::size_t first_line);

// An integer without further bounds.
std::int64_t read_int64(const JsonField& field);

// "%.17g": enough digits to tell any two doubles apart.
std::string exact_text(double value);

// Are they the same double? 0 and -0 are two.
bool same_bits(double a, double b);

// Lists of {nodes, tile, retain} and of {fuse_with_prev, tile, retain}. Integers may have any size, as
// hostile ones do; those that no int holds become a tile and an id that don't exist. Plans may have more
// fields.
walk::Plan read_recorded_plan(const JsonField& kernels);
std::vector<walk::Action> read_recorded_actions(const JsonField& actions);

}  // namespace fuselage::oracle

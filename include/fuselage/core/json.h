// How every JSON file is read: a parser that refuses what would only fail later or pass silently (duplicate
// keys, numbers that no double holds, NUL bytes, nesting without end), and a cursor over the parsed value
// whose errors name the file, the path of the field, the value and what would be right. Text that cannot be
// read is refused at the first byte that is wrong, so hostile files cost neither time nor memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

// Object keys are sorted; files are read by name, never by position.
using Json = nlohmann::json;

struct JsonLimits {
  int max_depth = 64;  // of arrays and objects within each other
  std::size_t max_values =
      10'000'000;              // numbers, strings, containers...; each takes up to 100 bytes of memory
  bool object_only = false;    // refuse any other top-level value at its first byte
  std::size_t first_line = 1;  // what messages call the first line of the text
};

// Throws Error with `source`, line, column (bytes, both from 1) and field for text that is empty, truncated,
// not JSON, not UTF-8, over a limit, or names a key twice in an object; for NaN, Infinity and numbers beyond
// a double.
Json parse_json(std::string_view text, const std::string& source, const JsonLimits& limits = {});

// A value within a parsed file, and where it is: reading is asking for a type and range, and an answer that
// isn't one is an Error. A field points to the one it was taken from and to its source, which must live
// longer; taking a field of a temporary therefore does not compile.
class JsonField {
 public:
  JsonField(const Json& value, const std::string& source) : value_(&value), source_(&source) {}

  const Json& value() const { return *value_; }
  const std::string& source() const { return *source_; }
  std::string path() const;  // "nodes[3].shape"; empty for the whole file

  // Fields of an object. `key` must live as long as the field: a literal, or the key in the object itself.
  bool has(std::string_view key) const;
  JsonField required(std::string_view key) const&;
  std::optional<JsonField> optional(std::string_view key) const&;
  JsonField required(std::string_view key) const&& = delete;
  std::optional<JsonField> optional(std::string_view key) const&& = delete;
  // Refuses what is no object, and any field that is not in `known`.
  void only(std::span<const std::string_view> known) const;

  // Elements of an array.
  std::size_t array_size() const;
  JsonField element(std::size_t index) const&;
  JsonField element(std::size_t index) const&& = delete;

  // A fraction is refused, 65536.0 is 65536 (up to 2^53, where doubles begin to skip integers).
  std::int64_t integer(std::int64_t min, std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  double number(double min = std::numeric_limits<double>::lowest(),
                double max = std::numeric_limits<double>::max()) const;
  bool boolean() const;
  const std::string& string() const;
  bool is_null() const { return value_->is_null(); }

  // Throws "source: path: value problem; expected ...", for example
  // "graph.json: nodes[3].shape[0]: 0 is out of range; expected an integer >= 1".
  [[noreturn]] void refuse(std::string_view problem, std::string_view expected) const;
  // The same for faults that are not about one value: "source: path: message".
  [[noreturn]] void refuse(std::string_view message) const;

 private:
  JsonField(const Json& value, const JsonField& parent, std::string_view key, std::size_t index)
      : value_(&value), source_(parent.source_), parent_(&parent), key_(key), index_(index) {}
  std::string path_of(std::string_view key) const;

  const Json* value_;
  const std::string* source_;
  const JsonField* parent_ = nullptr;
  std::string_view key_;   // if the parent is an object
  std::size_t index_ = 0;  // if it is an array
};

// `path` with a field's name or an array's index added: "a.b", "a[3]", "a[\"odd key\"]".
std::string path_with_key(const std::string& path, std::string_view key);
std::string path_with_index(const std::string& path, std::size_t index);

// "a, b, c"
std::string join_names(std::span<const std::string_view> names);

// Text of at most about 60 bytes, cut between UTF-8 characters, as a JSON string.
std::string quote(std::string_view text);

// How numbers and strings are written. Doubles are the shortest text that reads back to the same bits, as
// Python's repr: 65536.0, 0.1, 1e+16. `value` must be finite.
std::string json_number(double value);
std::string json_string(std::string_view text);

}  // namespace fuselage

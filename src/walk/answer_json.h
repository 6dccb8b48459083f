// A cursor over JSON text that accepts exactly what CPython's json.loads accepts (Lib/json/decoder.py and
// Modules/_json.c). Own code since packaged parsers refuse NaN, lone surrogates or large integers, throw, or
// recurse without bound. Values stay slices of the text: an answer has three fields of interest, the rest is
// only checked.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace fuselage::walk::answer_parts {

struct JsonValue {
  // `real` has a fraction or an exponent, or is NaN, Infinity or -Infinity.
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };
  Kind kind = Kind::null;
  std::string_view text;  // as written, quotes and brackets included
};

class JsonCursor {
 public:
  JsonCursor(std::string_view text, int max_depth) : rest_(text), max_depth_(max_depth) {}

  void skip_space();
  bool at_end() const { return rest_.empty(); }
  bool take(char expected);
  // The value that begins here; nothing if none does, or if it is too deep.
  std::optional<JsonValue> value();
  bool too_deep() const { return too_deep_; }

 private:
  bool take_word(std::string_view word);
  bool take_string();
  bool take_container(bool keyed);
  std::optional<JsonValue::Kind> take_number();
  std::optional<JsonValue::Kind> take_value();

  std::string_view rest_;
  int max_depth_;
  int depth_ = 0;
  bool too_deep_ = false;
};

// What a string value stands for, where each code unit beyond ASCII is given as the byte 0x80.
std::string ascii_of(const JsonValue& string);

// The values of an array, or the keys and values of an object in turn; `container` has been read by a cursor.
template <class Visit>
void each_entry(const JsonValue& container, Visit visit) {
  const bool keyed = container.kind == JsonValue::Kind::object;
  JsonCursor cursor(container.text.substr(1), std::numeric_limits<int>::max());
  cursor.skip_space();
  if (cursor.take(keyed ? '}' : ']')) return;
  do {
    cursor.skip_space();
    JsonValue key;
    if (keyed) {
      key = *cursor.value();
      cursor.skip_space();
      cursor.take(':');
      cursor.skip_space();
    }
    visit(key, *cursor.value());
    cursor.skip_space();
  } while (cursor.take(','));
}

}  // namespace fuselage::walk::answer_parts

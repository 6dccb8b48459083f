#include "fuselage/core/json.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

// Reads bytes for the parser and shows how far it has come, which the library's events don't say.
struct Reader {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** reached;

  reference operator*() const { return *at; }
  Reader& operator++() {
    *reached = ++at;
    return *this;
  }
  bool operator==(const Reader& other) const { return at == other.at; }
  bool operator!=(const Reader& other) const { return at != other.at; }
};

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '+' ||
         c == '.' || c == '_';
}

struct Word {
  std::size_t begin;  // byte of the text
  std::string_view text;
};

// The word or the single character around a byte of the text.
Word word_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  std::size_t end = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return begin == end ? Word{at, text.substr(at, 1)} : Word{begin, text.substr(begin, end - begin)};
}

bool means_no_number(std::string_view word) {
  std::string lower;
  for (char c : word.substr(0, 16))
    if (c != '-' && c != '+') lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

// What the library says is wrong, without its prefix, the position and the text that it read (which may be as
// long as the file).
std::string reason_of(std::string_view what) {
  const auto begin = what.find("column ");
  if (begin != std::string_view::npos) what.remove_prefix(std::min(what.size(), what.find(": ", begin) + 2));
  if (const auto dash = what.find(" - "); dash != std::string_view::npos) what.remove_prefix(dash + 3);
  const auto token = what.find("; last read");
  std::string reason(what.substr(0, token));
  const auto end = what.rfind("; expected ");
  if (token == std::string_view::npos || end == std::string_view::npos || end < token) return reason;
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  const std::string_view expected = what.substr(end, 100);
  if (std::all_of(expected.begin(), expected.end(), is_printable)) reason += expected;
  return reason;
}

// Builds the value from the parser's events and stops the parser, by an exception, at the first fault.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& source, const JsonLimits& limits)
      : text_(text), source_(source), limits_(limits), reached_(text.data()) {}

  Json build() {
    // The library takes a NUL byte for the end of the text.
    if (const auto nul = text_.find('\0'); nul != std::string_view::npos)
      refuse_at(nul, "NUL byte; expected JSON text in UTF-8");
    Json::sax_parse(Reader{text_.data(), &reached_}, Reader{text_.data() + text_.size(), &reached_}, this);
    return std::move(root_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& token) override {
    if (value == 0 && token.find_first_of("123456789") < token.find_first_of("eE"))
      refuse_at(offset(),
                fmt::format("{} is too small for a double; expected 0 or a larger number", shortened(token)));
    return add(value);
  }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& key) override {
    Frame& frame = open_.back();
    frame.key = std::move(key);
    if (frame.container->contains(frame.key))
      refuse_at(offset() - 1, fmt::format("the key {} appears twice in an object; expected each key once",
                                          quote(frame.key)));
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override {
    const std::size_t at = std::min(position > 0 ? position - 1 : 0, text_.size());
    if (error.id == 406)
      refuse_at(
          at, fmt::format("{} is beyond the range of a double; expected a finite number", shortened(token)));
    if (is_blank(text_)) fail("{}: the text is empty; expected JSON", source_);
    if (at >= text_.size())
      refuse_at(at, fmt::format("the text ends too early (truncated?): {}", reason_of(error.what())));
    const Word word = word_at(text_, at);
    if (means_no_number(word.text))
      refuse_at(word.begin, fmt::format("{} is no JSON number; expected a finite number", word.text));
    refuse_at(word.begin, fmt::format("not JSON, at {}: {}", quote(word.text), reason_of(error.what())));
  }

 private:
  struct Frame {
    Json* container;
    std::string key;  // of the value that comes next, in an object
  };

  std::size_t offset() const { return static_cast<std::size_t>(reached_ - text_.data()); }

  static std::string shortened(const std::string& token) {
    return token.size() <= 40 ? token : token.substr(0, 40) + "...";
  }

  // The field that is being read. An array already holds its open element, but not one that can't be read.
  std::string path() const {
    std::string path;
    for (const Frame& frame : open_) {
      const bool is_innermost = &frame == &open_.back();
      if (frame.container->is_array())
        path = path_with_index(path, frame.container->size() - (is_innermost ? 0 : 1));
      else if (!is_innermost || !frame.key.empty())
        path = path_with_key(path, frame.key);
    }
    return path.size() <= 120 ? path : path.substr(0, 120) + "...";
  }

  [[noreturn]] void refuse_at(std::size_t at, const std::string& problem) const {
    const std::string_view before = text_.substr(0, at);
    const auto line =
        limits_.first_line + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const std::string field = path();
    fail("{}: line {}, column {}{}: {}", source_, line, at - line_begin + 1,
         field.empty() ? "" : fmt::format(" ({})", field), problem);
  }

  Json* put(Json&& value) {
    if (++values_ > limits_.max_values)
      refuse_at(offset(), fmt::format("more than {} values; expected a smaller file", limits_.max_values));
    if (open_.empty()) {
      if (limits_.object_only && !value.is_object())
        refuse_at(text_.find_first_not_of(" \t\r\n"),
                  fmt::format("is a JSON {}; expected an object {{...}}", value.type_name()));
      root_ = std::move(value);
      return &root_;
    }
    Frame& frame = open_.back();
    if (frame.container->is_array()) {
      frame.container->push_back(std::move(value));
      return &frame.container->back();
    }
    return &(frame.container->get_ref<Json::object_t&>()[frame.key] = std::move(value));
  }

  template <class Value>
  bool add(Value&& value) {
    put(Json(std::forward<Value>(value)));
    return true;
  }

  bool open(Json&& empty) {
    if (open_.size() >= static_cast<std::size_t>(limits_.max_depth))
      refuse_at(offset() - 1,
                fmt::format("nested deeper than {} levels; expected a flatter value", limits_.max_depth));
    Json* const container = put(std::move(empty));
    open_.push_back({container, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  JsonLimits limits_;
  const char* reached_;
  std::size_t values_ = 0;
  Json root_;
  std::vector<Frame> open_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& source, const JsonLimits& limits) {
  return Builder(text, source, limits).build();
}

}  // namespace fuselage

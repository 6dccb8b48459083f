#include "answer_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "answer_convert.h"

namespace fuselage::walk::answer_parts {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Loose text, read from the left. What a pattern skips never holds the next place where it could begin, so a
// search that fails at one place and goes on behind it stays linear.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  // Goes behind the next `word`, if there is one. Words are given in lower case.
  bool find(std::string_view word) {
    const auto found = std::search(rest_.begin(), rest_.end(), word.begin(), word.end(), same);
    if (found == rest_.end()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(found - rest_.begin()) + word.size());
    return true;
  }
  bool take(std::string_view word) {
    const std::string_view head = rest_.substr(0, word.size());
    if (!std::equal(head.begin(), head.end(), word.begin(), word.end(), same)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(python_space), rest_.size())); }
  // White space around at most one '=' or ':'. Was there one?
  bool take_equals() {
    skip_space();
    const bool found = take("=") || take(":");
    skip_space();
    return found;
  }
  // [sign] digits; empty if there are none.
  std::string_view take_integer(bool may_have_sign) {
    const std::size_t sign = may_have_sign && (rest_.starts_with('-') || rest_.starts_with('+')) ? 1 : 0;
    const auto end =
        std::find_if_not(rest_.begin() + static_cast<std::ptrdiff_t>(sign), rest_.end(), is_digit);
    const auto size = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view integer = size > sign ? rest_.substr(0, size) : std::string_view();
    rest_.remove_prefix(integer.size());
    return integer;
  }

 private:
  static bool same(char read, char wanted) {
    return read == wanted || (read >= 'A' && read <= 'Z' && read - 'A' + 'a' == wanted);
  }

  std::string_view rest_;
};

std::optional<bool> fuse_in(std::string_view text) {
  constexpr std::array<std::string_view, 3> yes = {"true", "yes", "1"};
  constexpr std::array<std::string_view, 3> no = {"false", "no", "0"};
  TextCursor cursor(text);
  while (cursor.find("fuse")) {
    cursor.take("_with_prev");
    if (!cursor.take_equals()) continue;
    for (std::string_view word : yes)
      if (cursor.take(word)) return true;
    for (std::string_view word : no)
      if (cursor.take(word)) return false;
  }
  return std::nullopt;
}

std::optional<int> tile_in(std::string_view text) {
  TextCursor cursor(text);
  while (cursor.find("tile")) {
    cursor.take_equals();
    if (const std::string_view digits = cursor.take_integer(false); !digits.empty())
      return nearest_int(digits);
  }
  return std::nullopt;
}

std::optional<std::vector<NodeId>> list_at(TextCursor& cursor) {
  std::vector<NodeId> list;
  if (!cursor.take("[")) return std::nullopt;
  cursor.skip_space();
  if (cursor.take("]")) return list;
  do {
    cursor.skip_space();
    const std::string_view integer = cursor.take_integer(true);
    if (integer.empty()) return std::nullopt;
    list.push_back(node_id(integer));
    cursor.skip_space();
  } while (cursor.take(","));
  return cursor.take("]") ? std::optional(std::move(list)) : std::nullopt;
}

std::optional<std::vector<NodeId>> retain_in(std::string_view text) {
  TextCursor cursor(text);
  while (cursor.find("retain")) {
    cursor.take_equals();
    if (std::optional<std::vector<NodeId>> list = list_at(cursor)) return list;
  }
  return std::nullopt;
}

}  // namespace

Action action_in_text(std::string_view text) {
  Action action;
  action.fuse_with_prev = fuse_in(text).value_or(action.fuse_with_prev);
  action.tile = tile_in(text).value_or(action.tile);
  action.retain = retain_in(text).value_or(action.retain);
  return action;
}

}  // namespace fuselage::walk::answer_parts

// Actions as lines of a file: text as it stands, or JSON that holds it.
#include "fuselage/core/action_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"

namespace fuselage {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::optional<std::string> read(std::string_view line) {
  return read_action_line(line, "actions.txt", 7);
}

TEST(ActionLine, text_stands_for_itself) {
  for (const char* line :
       {"SCHEDULE ops=[0,1] config=[128,128,1]", "  fuse=yes tile=64", "[1, 2]", "null", "action",
        R"({"fuse_with_prev": true, "tile": 128})", R"({"note": "action"})", R"({"note": "action", "a": 1)",
        R"({"tile": NaN})", R"({"tile": 1, "tile": 2})", "{\"tile\": \xff}", R"(say "action": now)"})
    EXPECT_EQ(read(line), line);
}

TEST(ActionLine, json_holds_the_text) {
  EXPECT_EQ(read(R"("SCHEDULE ops=[0]")"), "SCHEDULE ops=[0]");
  EXPECT_EQ(read("  \"two\\nlines\" \r"), "two\nlines");
  EXPECT_EQ(read(R"("")"), "");
  EXPECT_EQ(read(R"({"action": "a \"b\""})"), "a \"b\"");
  EXPECT_EQ(read(R"({"step": 3, "action" : "x", "info": {"action": 5}})"), "x");
  EXPECT_EQ(read(R"({"action": "{\"action\": \"inner\"}"})"), R"({"action": "inner"})") << "once only";
  const std::string nested = R"({"info": {"action": "x"}})";
  EXPECT_EQ(read(nested), nested) << "not the line's own field";
}

TEST(ActionLine, nothing_is_no_action) {
  for (const char* line : {"", " \t\r", R"({"action": null})", R"({"score": 1, "action": null})"})
    EXPECT_EQ(read(line), std::nullopt) << line;
}

TEST(ActionLine, what_looks_like_json_has_to_be_it) {
  const auto error = [](std::string_view line) { return error_of([&] { read(line); }); };
  EXPECT_EQ(error(R"({"action": 5})"),
            "actions.txt: line 7: action: \"5\" is no text; expected a string, or null for none");
  EXPECT_THAT(error(R"({"action": ["a"]})"), StartsWith("actions.txt: line 7: action: "));
  for (const char* line : {R"("SCHEDULE ops=[0])", R"("a" b)", R"({"action": "a")", R"({"action": a})",
                           R"({"action": "a", "action": "b"})", "\"\xff\""})
    EXPECT_THAT(error(line), HasSubstr("line 7")) << line;
}

}  // namespace
}  // namespace fuselage

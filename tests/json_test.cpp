#include "fuselage/core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "error_of.h"

namespace fuselage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string parse_error(std::string_view text, const JsonLimits& limits = {}) {
  return error_of([&] { parse_json(text, "f.json", limits); });
}

TEST(ParseJson, BuildsEveryType) {
  const Json json =
      parse_json(R"( {"a": [1, -2, 2.5, 1e3, true, false, null, "\u00e9\n"], "b": {}, "": []} )", "f");
  EXPECT_EQ(json, Json::parse(R"({"a": [1, -2, 2.5, 1e3, true, false, null, "é\n"], "b": {}, "": []})"));
  EXPECT_EQ(parse_json("7", "f"), Json(7));
  EXPECT_EQ(parse_json("\xEF\xBB\xBF[0]", "f"), Json::parse("[0]")) << "a byte order mark passes";
}

TEST(ParseJson, KeepsWideIntegersApart) {
  const Json json = parse_json("[9223372036854775807, -9223372036854775808, 18446744073709551615]", "f");
  EXPECT_EQ(json[0].get<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(json[1].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(json[2].is_number_unsigned());
}

struct BadText {
  std::string_view text;
  std::vector<std::string> says;
};

TEST(ParseJson, RefusesWhatIsNotJson) {
  const std::vector<BadText> cases = {
      {"", {"f.json: ", "empty"}},
      {" \n\t", {"f.json: ", "empty"}},
      {"{", {"line 1, column 2", "truncated"}},
      {"{\n \"a\": [1, 2", {"line 2, column 12 (a[2])", "truncated"}},
      {"{\"a\": \"text", {"(a)", "truncated"}},
      {"{\"a\"", {"truncated"}},
      {"nul", {"truncated"}},
      {"graph", {"line 1, column 1", "not JSON", "\"graph\""}},
      {"{\n  \"a\": 1\n  \"b\": 2}", {"line 3, column 4", "not JSON", "\"b\""}},
      {"{\"a\": 01}", {"line 1, column 7 (a)", "not JSON", "\"01\""}},
      {"{'a': 1}", {"column 2", "not JSON", "'"}},
      {"[1, 2,]", {"column 7", "not JSON"}},
      {"[1] [2]", {"column 5", "not JSON", "end of input"}},
      {"{\"a\": /* no */ 1}", {"column 7", "not JSON"}},
      {"[\"a\nb\"]", {"not JSON", "control character"}},
      {"{\"a\": +1}", {"column 7 (a)", "\"+1\""}},
      {"{\"a\": .5}", {"column 7 (a)", "\".5\""}},
      {"{1: 2}", {"column 2", "\"1\""}},
  };
  for (const BadText& bad : cases) {
    const std::string error = parse_error(bad.text);
    EXPECT_THAT(error, StartsWith("f.json: ")) << bad.text;
    for (const std::string& words : bad.says) EXPECT_THAT(error, HasSubstr(words)) << bad.text;
  }
}

TEST(ParseJson, RefusesNulBytes) {
  const std::string inside("{\"a\": 1}\0{", 10);
  EXPECT_THAT(parse_error(inside), AllOf(HasSubstr("column 9"), HasSubstr("NUL")));
  EXPECT_THAT(parse_error(inside.substr(0, 9)), HasSubstr("NUL"));
}

TEST(ParseJson, RefusesNumbersThatNoDoubleHolds) {
  for (const char* word : {"NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf"})
    EXPECT_THAT(parse_error(fmt::format("{{\"a\": {{\"flops\": {}}}}}", word)),
                AllOf(HasSubstr("(a.flops)"), HasSubstr(word), HasSubstr("expected a finite number")));
  EXPECT_THAT(parse_error("{\"flops\": 1e999}"), AllOf(HasSubstr("(flops)"), HasSubstr("1e999 is beyond"),
                                                       HasSubstr("expected a finite number")));
  EXPECT_THAT(parse_error("[-1e999]"), HasSubstr("-1e999"));
  EXPECT_THAT(parse_error("[1e-999]"), AllOf(HasSubstr("([0])"), HasSubstr("1e-999 is too small")));
  EXPECT_EQ(parse_json("[0e5, 0.0, -0.0, 5e-324]", "f").size(), 4U);
  EXPECT_THAT(parse_error("[" + std::string(100'000, '9') + "]"), HasSubstr("9999... is beyond"));
}

TEST(ParseJson, RefusesDuplicateKeys) {
  EXPECT_THAT(
      parse_error("{\"a\": 1, \"b\": {\"id\": 1, \"x\": 2, \"id\": 1}}"),
      AllOf(HasSubstr("(b.id)"), HasSubstr("\"id\""), HasSubstr("twice"), HasSubstr("line 1, column 36")));
  EXPECT_THAT(parse_error("{\"a\": 1, \"\\u0061\": 1}"), HasSubstr("\"a\""));
  EXPECT_EQ(parse_json("[{\"a\": 1}, {\"a\": {\"a\": 1}}]", "f").size(), 2U)
      << "other objects may use it again";
}

TEST(ParseJson, RefusesInvalidUtf8) {
  for (const char* bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "\xc0\x80"})
    EXPECT_THAT(parse_error(fmt::format("{{\"name\": \"x{}\"}}", bytes)),
                AllOf(HasSubstr("(name)"), HasSubstr("UTF-8")));
  EXPECT_THAT(parse_error("\xff\xfe{"), HasSubstr("not JSON"));
}

TEST(ParseJson, LimitsDepth) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(64), "f"));
  EXPECT_THAT(parse_error(nested(65)), AllOf(HasSubstr("column 65"), HasSubstr("deeper than 64 levels")));
  EXPECT_THAT(parse_error("{\"a\": {\"b\": [1]}}", {.max_depth = 2}),
              AllOf(HasSubstr("(a.b)"), HasSubstr("2 levels")));
}

TEST(ParseJson, LimitsValues) {
  EXPECT_NO_THROW(parse_json("[1, 2]", "f", {.max_values = 3}));
  EXPECT_THAT(parse_error("[1, 2, 3]", {.max_values = 3}), HasSubstr("more than 3 values"));
}

TEST(ParseJson, CanAskForAnObject) {
  EXPECT_THAT(parse_error(" [1]", {.object_only = true}),
              AllOf(HasSubstr("column 2"), HasSubstr("array"), HasSubstr("object")));
  EXPECT_THAT(parse_error("1", {.object_only = true}), HasSubstr("number"));
  EXPECT_NO_THROW(parse_json("{\"a\": [1]}", "f", {.object_only = true}));
  EXPECT_THAT(parse_error("{", {.first_line = 12}), HasSubstr("line 12, column 2"));
}

// 100 MB of hostile text must cost milliseconds, not gigabytes: the first fault ends the parse.
TEST(ParseJson, RefusesBigHostileFilesQuickly) {
  constexpr std::size_t size = 100'000'000;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(parse_error(std::string(size, '[')), HasSubstr("deeper than 64"));
  EXPECT_THAT(parse_error(std::string(size, '['), {.object_only = true}), HasSubstr("expected an object"));
  EXPECT_THAT(parse_error(std::string(size, ']')), HasSubstr("not JSON"));
  EXPECT_THAT(parse_error(std::string(size, '{')), HasSubstr("not JSON"));
  std::string pairs;
  while (pairs.size() < size) pairs += "[],[],[],[],";
  EXPECT_THAT(parse_error("[" + pairs, {.object_only = true}), HasSubstr("expected an object"));
  EXPECT_THAT(parse_error("{\"a\": [" + pairs, {.max_values = 1'000'000}),
              HasSubstr("more than 1000000 values"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ParseJson, KeepsMessagesShort) {
  const std::string long_text(1'000'000, 'x');
  EXPECT_LT(parse_error("{\"a\": \"" + long_text).size(), 500U);
  EXPECT_LT(parse_error(long_text).size(), 500U);
  EXPECT_LT(parse_error("{\"" + long_text + "\": NaN}").size(), 500U);
  EXPECT_LT(parse_error("{\"" + long_text + "\": 1, \"" + long_text + "\": 1}").size(), 500U);
  EXPECT_LT(parse_error("{\"a\": \"" + long_text + "\xff; expected \xff\"}").size(), 500U);
}

// Reads `text`, calls `read` with a cursor at its root, and says what went wrong.
template <class Read>
std::string field_error(const std::string& text, Read read) {
  return error_of([&] {
    const Json json = parse_json(text, "f.json");
    const std::string source = "f.json";
    const JsonField root(json, source);
    read(root);
  });
}

TEST(JsonField, NamesThePath) {
  const std::string text = R"({"graph": {"nodes": [{"shape": [1, 0]}]}, "odd key": 1})";
  EXPECT_EQ(field_error(text,
                        [](const JsonField& root) {
                          const JsonField graph = root.required("graph");
                          const JsonField nodes = graph.required("nodes");
                          const JsonField node = nodes.element(0);
                          const JsonField shape = node.required("shape");
                          shape.element(1).integer(1);
                        }),
            "f.json: graph.nodes[0].shape[1]: 0 is out of range; expected an integer >= 1");
  EXPECT_EQ(field_error(text, [](const JsonField& root) { root.required("odd key").boolean(); }),
            "f.json: [\"odd key\"]: 1 is a number; expected true or false");
  EXPECT_EQ(field_error("3", [](const JsonField& root) { root.only({}); }),
            "f.json: 3 is a number; expected an object");
}

TEST(JsonField, NamesMissingAndUnknownFields) {
  const auto only_ab = [](const JsonField& root) {
    const std::array<std::string_view, 2> known = {"a", "b"};
    root.only(known);
    root.required("a");
    root.required("b");
  };
  EXPECT_EQ(field_error(R"({"a": 1, "c": "red"})", only_ab),
            "f.json: c: \"red\" is the value of an unknown field; expected only the fields a, b");
  EXPECT_EQ(field_error(R"({"a": 1})", only_ab), "f.json: b: this field is missing; expected it beside a");
  EXPECT_EQ(field_error("{}", only_ab), "f.json: a: this field is missing; expected it beside no others");
}

TEST(JsonField, ReadsIntegersExactly) {
  const auto integer = [](std::int64_t min, std::int64_t max) {
    return [=](const JsonField& root) { root.integer(min, max); };
  };
  const auto any =
      integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  for (const char* fine : {"0", "-5", "65536.0", "1e3", "9007199254740992.0", "9223372036854775807", "-0.0"})
    EXPECT_EQ(field_error(fine, any), "no error") << fine;
  EXPECT_THAT(field_error("9223372036854775808", any), HasSubstr("9223372036854775808 is out of range"));
  EXPECT_THAT(field_error("18446744073709551616", any), HasSubstr("is out of range"));
  EXPECT_THAT(field_error("1e300", any), HasSubstr("1e+300 is out of range"));
  EXPECT_THAT(field_error("9007199254740994.0", any), HasSubstr("is out of range"));
  EXPECT_THAT(field_error("2.5", any), HasSubstr("2.5 is not an integer"));
  EXPECT_THAT(field_error("\"7\"", any), HasSubstr("\"7\" is a string; expected an integer"));
  EXPECT_THAT(field_error("true", any), HasSubstr("true is a boolean"));
  EXPECT_THAT(field_error("null", any), HasSubstr("null is no value"));
  EXPECT_THAT(field_error("[1, \"a\"]", any), HasSubstr("[1, \"a\"] is an array"));
  EXPECT_THAT(field_error("[1, [2]]", any), HasSubstr("an array of 2 values is an array"));
  EXPECT_THAT(field_error("7", integer(1, 5)),
              HasSubstr("7 is out of range; expected an integer from 1 to 5"));
  EXPECT_THAT(field_error("-7", integer(0, 5)), HasSubstr("-7 is negative; expected an integer from 0 to 5"));
  EXPECT_THAT(field_error("2", integer(1, 1)), HasSubstr("expected the integer 1"));
}

TEST(JsonField, ReadsNumbersAndStrings) {
  EXPECT_THAT(field_error("-0.5", [](const JsonField& root) { root.number(0); }),
              HasSubstr("-0.5 is negative; expected a finite number >= 0"));
  EXPECT_THAT(field_error("2.5", [](const JsonField& root) { root.number(0, 2); }),
              HasSubstr("2.5 is out of range"));
  EXPECT_THAT(field_error("\"2\"", [](const JsonField& root) { root.number(); }),
              HasSubstr("\"2\" is a string; expected a finite number"));
  EXPECT_THAT(field_error("2", [](const JsonField& root) { root.string(); }),
              HasSubstr("2 is a number; expected a string"));
  EXPECT_THAT(field_error("{}", [](const JsonField& root) { root.array_size(); }),
              HasSubstr("expected an array"));
  const std::string source = "f.json";
  const Json json = parse_json("[7, -2.5, \"a\", true]", source);
  const JsonField root(json, source);
  EXPECT_EQ(root.array_size(), 4U);
  EXPECT_EQ(root.element(0).number(), 7.0);
  EXPECT_EQ(root.element(1).number(), -2.5);
  EXPECT_EQ(root.element(2).string(), "a");
  EXPECT_TRUE(root.element(3).boolean());
}

TEST(JsonField, CutsLongValuesBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "é";
  const std::string error = field_error(json_string(text), [](const JsonField& root) { root.integer(0); });
  EXPECT_THAT(error, HasSubstr("é\"... is a string"));
  EXPECT_LT(error.size(), 200U);
}

TEST(JsonText, WritesDoublesAsPythonDoes) {
  const std::vector<std::pair<double, std::string>> cases = {{0, "0.0"},
                                                             {-0.0, "-0.0"},
                                                             {65536, "65536.0"},
                                                             {0.1, "0.1"},
                                                             {118360.31999999999, "118360.31999999999"},
                                                             {1e15, "1000000000000000.0"},
                                                             {1e16, "1e+16"},
                                                             {1.5e300, "1.5e+300"},
                                                             {1e-4, "0.0001"},
                                                             {1e-5, "1e-05"},
                                                             {5e-324, "5e-324"},
                                                             {9007199254740993.0, "9007199254740992.0"}};
  for (const auto& [value, text] : cases) {
    EXPECT_EQ(json_number(value), text);
    EXPECT_EQ(parse_json(text, "f").get<double>(), value);
  }
}

TEST(JsonText, EscapesStrings) {
  EXPECT_EQ(json_string("a\"b\\\n\x01é"), "\"a\\\"b\\\\\\n\\u0001é\"");
  EXPECT_EQ(json_string("\xff"), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace fuselage

#include "fuselage/walk/answer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/walk/rules.h"

namespace fuselage::walk {

namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr int least = std::numeric_limits<int>::min();

struct Case {
  std::string_view text;
  std::optional<Action> expected;
};

Action fuse(bool wanted) {
  return {wanted, default_tile, {}};
}
Action tile(int size) {
  return {false, size, {}};
}
Action retain(std::vector<NodeId> ids) {
  return {false, default_tile, std::move(ids)};
}
const std::optional<Action> parse_error = std::nullopt;

std::string described(const std::optional<Action>& action) {
  if (!action) return "parse error";
  std::string text = action->fuse_with_prev ? "fuse, tile " : "no fuse, tile ";
  text += std::to_string(action->tile);
  text += ", retain";
  for (NodeId id : action->retain) text += ' ' + std::to_string(id);
  return text;
}

void expect_answer(std::string_view text, const std::optional<Action>& expected) {
  EXPECT_EQ(described(parse_answer(text)), described(expected)) << text;
}

std::string object(std::string_view field, std::string_view value) {
  std::string text = "{\"";
  return text.append(field).append("\": ").append(value).append("}");
}

void expect_all(const std::vector<Case>& cases) {
  for (const auto& [text, expected] : cases) expect_answer(text, expected);
}

TEST(Answer, JsonObject) {
  expect_all({
      {R"({"fuse_with_prev": true, "tile": 64, "retain": [3, 1, 3]})", Action{true, 64, {3, 1, 3}}},
      {R"({"retain":[0],"tile":256,"fuse_with_prev":false})", Action{false, 256, {0}}},
      {"{}", Action{}},
      {" \r\n\t{ \"tile\" : 32 }\n ", tile(32)},
      {R"({"reason": "tile 64, fuse=1", "other": {"tile": 32, "deep": [[], {}]}})", Action{}},
      {R"({"tile": 32, "tile": 64})", tile(64)},
      {R"({"tile": "abc", "tile": 64})", tile(64)},
      {R"({"\u0074ile": 64})", tile(64)},
      {R"({"TILE": 64})", Action{}},
      {R"({"tile\u0000": 64})", Action{}},
      {R"({"note": "\ud800 \udc00\ud800 \u20ac"})", Action{}},
      {"{\"note\": \"\xff\xfe\"}", Action{}},
  });
}

TEST(Answer, FuseGoesByTruthiness) {
  expect_all({
      {R"({"fuse_with_prev": "false"})", fuse(true)},
      {R"({"fuse_with_prev": ""})", fuse(false)},
      {R"({"fuse_with_prev": "\u0000"})", fuse(true)},
      {R"({"fuse_with_prev": null})", fuse(false)},
      {R"({"fuse_with_prev": 0})", fuse(false)},
      {R"({"fuse_with_prev": -0})", fuse(false)},
      {R"({"fuse_with_prev": 2})", fuse(true)},
      {R"({"fuse_with_prev": 0.0e9})", fuse(false)},
      {R"({"fuse_with_prev": 1e-400})", fuse(false)},
      {R"({"fuse_with_prev": 1e-300})", fuse(true)},
      {R"({"fuse_with_prev": 1e999})", fuse(true)},
      {R"({"fuse_with_prev": NaN})", fuse(true)},
      {R"({"fuse_with_prev": -Infinity})", fuse(true)},
      {R"({"fuse_with_prev": []})", fuse(false)},
      {R"({"fuse_with_prev": [ ]})", fuse(false)},
      {R"({"fuse_with_prev": [0]})", fuse(true)},
      {R"({"fuse_with_prev": {}})", fuse(false)},
      {R"({"fuse_with_prev": {"a": 0}})", fuse(true)},
  });
}

TEST(Answer, TileGoesByInt) {
  expect_all({
      {R"({"tile": 64.9})", tile(64)},
      {R"({"tile": -0.5})", tile(0)},
      {R"({"tile": 1.28e2})", tile(128)},
      {R"({"tile": -7})", tile(-7)},
      {R"({"tile": true})", tile(1)},
      {R"({"tile": "  64\n"})", tile(64)},
      {R"({"tile": "+2_56"})", tile(256)},
      {R"({"tile": "0064"})", tile(64)},
      {R"({"tile": "12.7"})", tile(12)},
      {R"({"tile": "3.2e1"})", tile(32)},
      {R"({"tile": "64."})", tile(64)},
      {R"({"tile": 2147483647})", tile(most)},
      {R"({"tile": 99999999999999999999999})", tile(most)},
      {R"({"tile": -99999999999999999999999})", tile(least)},
      {R"({"tile": 1e300})", tile(most)},
      {R"({"tile": "-1e300"})", tile(least)},
      {R"({"tile": 1e-999})", tile(0)},
  });
  for (std::string_view value : {"null",      "[]",       "[64]",      "{}",           "NaN",      "Infinity",
                                 "-Infinity", "1e999",    "-1e999",    R"("")",        R"("x")",   R"("6 4")",
                                 R"("_64")",  R"("64_")", R"("6__4")", R"("1e999")",   R"("inf")", R"("nan")",
                                 R"("0x40")", R"(".")",   R"("- 5")",  R"("64\u0000")"})
    expect_answer(object("tile", value), parse_error);
}

TEST(Answer, RetainIsAListOfIntegers) {
  expect_all({
      {R"({"retain": []})", retain({})},
      {R"({"retain": ""})", retain({})},
      {R"({"retain": { }})", retain({})},
      {R"({"retain": [true, false, -5]})", retain({1, 0, -5})},
      {R"({"retain": [2147483647, 2147483648, -2147483649, 1000000000000000000000]})",
       retain({most, -1, -1, -1})},
  });
  for (std::string_view value : {"null", "1", "true", "1.5", "NaN", R"("12")", R"({"1": 1})", R"(["1"])",
                                 "[1.5]", "[2.0]", "[1e0]", "[null]", "[[1]]", "[{}]", "[NaN]"})
    expect_answer(object("retain", value), parse_error);
}

TEST(Answer, JsonThatIsNoObjectIsAParseError) {
  for (std::string_view text : {"[]", "[1]", "7", "-0", "1e5", "\"fuse=1\"", "true", "false", "null", "NaN",
                                " -Infinity ", R"("\ud800")"})
    expect_answer(text, parse_error);
}

TEST(Answer, FenceLinesAreDropped) {
  expect_all({
      {"```json\n{\"tile\": 64}\n```", tile(64)},
      {"```\n{\"tile\": 64}", tile(64)},
      {"\n  ```json\r\n{\"tile\":\r\n 64}\r\n```\r\n", tile(64)},
      {"```\nfuse: yes\n```", fuse(true)},
      {"````\n{\"tile\": 64}\n````", tile(64)},
      {"```\n[1]\n```", parse_error},
      {"```", Action{}},
      {"```{\"tile\": 64}```", Action{}},
      {"`{\"tile\": 64}`", Action{}},
  });
}

TEST(Answer, Text) {
  expect_all({
      {"", Action{}},
      {"   \n", Action{}},
      {"I would wait.", Action{}},
      {"fuse=true tile=64 retain=[1, 2]", Action{true, 64, {1, 2}}},
      {"FUSE_With_Prev : YES; Tile 256; Retain [ ]", Action{true, 256, {}}},
      {"fuse:1", fuse(true)},
      {"fuse\n=\nno", fuse(false)},
      {"fuse_with_prev=0 fuse=1", fuse(false)},
      {"fuse yes, then fuse: maybe, then fuse: yes", fuse(true)},
      {"fuse true", fuse(false)},
      {"fuse==true", fuse(false)},
      {"fuse=10", fuse(true)},
      {"fusefuse=1", fuse(true)},
      {"tile64", tile(64)},
      {"tiles: 32, tile: 64", tile(64)},
      {"tile: -64", Action{}},
      {"tile 64.9", tile(64)},
      {"tile = 99999999999", tile(most)},
      {"tile", Action{}},
      {"retain [-1,+2 , 3]", retain({-1, 2, 3})},
      {"retain: [99999999999]", retain({-1})},
      {"retain [1,] retain [2]", retain({2})},
      {"retain [a] retain [1 2] retain [1.5] retain [4", Action{}},
      {"retain 5", Action{}},
  });
}

TEST(Answer, BrokenJsonIsText) {
  for (std::string_view text :
       {R"({"tile": 64)", R"({"tile": 64,})", R"({"tile": 064})", R"({'tile': 64})", R"({"tile": 64} .)",
        R"({"tile" 64})", R"({"tile": 64.})", R"({"tile": +64})", R"({tile = 64 "x})", "{\"tile\": \"\x01\"}",
        R"({"a": "\x"})", R"({"a": "\u12g4"})", R"({"a": -NaN})", R"({"a": nul})", "[1,]", "-",
        "\xef\xbb\xbf{}"})
    expect_answer(text, text.find("tile =") == text.npos ? Action{} : tile(64));
  expect_answer(std::string_view("{}\0", 3), Action{});
}

std::string nested(int depth, std::string_view open, std::string_view close) {
  std::string text = "{\"a\":";
  for (int i = 1; i < depth; ++i) text += open;
  text += "0";
  for (int i = 1; i < depth; ++i) text += close;
  return text + ",\"tile\":64}";
}

TEST(Answer, DepthIsBounded) {
  EXPECT_EQ(parse_answer(nested(max_answer_depth, "[", "]")), tile(64));
  EXPECT_EQ(parse_answer(nested(max_answer_depth, "{\"b\":", "}")), tile(64));
  EXPECT_EQ(parse_answer(nested(max_answer_depth + 1, "[", "]")), parse_error);
  EXPECT_EQ(parse_answer(std::string(5'000'000, '[')), parse_error);
}

TEST(Answer, HugeInputTakesLinearTime) {
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() < 2'000'000) text += part;
    return text;
  };
  const auto start = std::chrono::steady_clock::now();
  for (std::string_view part :
       {" ", "9", "fuse", "tile ", "retain [", "retain [1,", "\\", "\"", "```\n", "=", "\n"})
    EXPECT_TRUE(parse_answer(std::string("x ") + repeated(part)).has_value()) << part;
  EXPECT_EQ(parse_answer(object("tile", repeated("9"))), tile(most));
  EXPECT_EQ(parse_answer(object("tile", std::string("0.") + repeated("0") + "1")), tile(0));
  EXPECT_EQ(parse_answer(object("tile", std::string("\"") + repeated("9") + ".0\"")), parse_error);
  EXPECT_EQ(parse_answer(object("tile", std::string("1e") + repeated("9"))), parse_error);
  EXPECT_EQ(parse_answer(object("retain", std::string("[") + repeated("1,") + "1]"))->retain.size(),
            1'000'001U);
  EXPECT_EQ(parse_answer(std::string("{") + repeated("\"tile\":64,") + "\"tile\":32}"), tile(32));
  // Quadratic time would be hours; the limit is wide for slow builds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(AnswerText, reads_back) {
  for (const Action& action : {Action{}, Action{.fuse_with_prev = true, .tile = 64, .retain = {5, 3, 5}}})
    EXPECT_EQ(parse_answer(answer_text(action)), action);
  EXPECT_EQ(answer_text({.fuse_with_prev = true, .tile = 256, .retain = {1, 22}}),
            R"({"fuse_with_prev": true, "tile": 256, "retain": [1, 22]})");
}

}  // namespace
}  // namespace fuselage::walk

// What is UTF-8, beside an independent judge, and what is said of text that is not.
#include "fuselage/core/utf8.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "error_of.h"
#include "fuselage/core/action_line.h"

namespace fuselage {
namespace {

bool json_takes(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

TEST(Utf8, AgreesWithJson) {
  std::mt19937 random(1);
  const std::string bytes =
      std::string("a\x7f\x80\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe2\xed\xef\xf0\xf1\xf4\xf5\xff");
  int good = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (std::size_t n = 1 + random() % 5; n > 0; --n) text += bytes[random() % bytes.size()];
    ASSERT_EQ(is_utf8(text), json_takes(text)) << i;
    good += is_utf8(text);
  }
  EXPECT_GT(good, 1'000);
  EXPECT_TRUE(is_utf8("caf\xc3\xa9 \xe5\x90\x8d \xf0\x9f\x98\x80"));
  EXPECT_EQ(find_no_utf8("caf\xe9"), 3U);
  EXPECT_EQ(find_no_utf8("\xc3\xa9\xed\xa0\x80"), 2U);  // a surrogate
}

TEST(Utf8, RefusalNamesLineAndColumn) {
  EXPECT_EQ(error_of([] { check_utf8("a\nb\nc\xc3\xa9\xe9\n", "t.txt"); }),
            "t.txt: line 3, column 4: the byte 0xE9 is not UTF-8; expected text in UTF-8");
  EXPECT_EQ(error_of([] { check_utf8("\xff", "t.txt", 7); }),
            "t.txt: line 7, column 1: the byte 0xFF is not UTF-8; expected text in UTF-8");
  EXPECT_EQ(error_of([] { check_utf8("", "t.txt"); }), "no error");
}

}  // namespace
}  // namespace fuselage

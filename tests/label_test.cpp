// Names of all kinds become labels: one line, UTF-8, nothing that changes how what follows is read.
#include "fuselage/report/label.h"

#include <gtest/gtest.h>

#include <chrono>

namespace fuselage::report {
namespace {

const std::string bad = "\uFFFD";
const std::string cut = "\u2026";
const std::string rtl = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d";  // Hebrew, right to left

TEST(Label, LabelsAreCutBetweenCharacters) {
  EXPECT_EQ(label_of("abc", 3), "abc");
  EXPECT_EQ(label_of("abcd", 3), "ab" + cut);
  EXPECT_EQ(label_of("abcd", 1), cut);
  EXPECT_EQ(label_of(rtl, 3), rtl.substr(0, 4) + cut);
  EXPECT_EQ(label_of("\xf0\x9f\x98\x80!", 2), "\xf0\x9f\x98\x80!");
  EXPECT_EQ(label_of("\xf0\x9f\x98\x80!!", 2), "\xf0\x9f\x98\x80" + cut);
  EXPECT_EQ(label_of("", 5), "");
}

TEST(Label, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(label_of("a\xFFz", 9), "a" + bad + "z");
  EXPECT_EQ(label_of("\x80", 9), bad);                      // goes on with nothing
  EXPECT_EQ(label_of("\xC3", 9), bad);                      // ends in the middle
  EXPECT_EQ(label_of("\xE2\x82z", 9), bad + bad + "z");     // the same, and goes on
  EXPECT_EQ(label_of("\xC0\xAF", 9), bad + bad);            // "/", overlong
  EXPECT_EQ(label_of("\xE0\x80\xAF", 9), bad + bad + bad);  // again
  EXPECT_EQ(label_of("\xF0\x80\x80\xAF", 4), bad + bad + bad + bad);
  EXPECT_EQ(label_of("\xED\xA0\x80", 9), bad + bad + bad);            // half of a pair
  EXPECT_EQ(label_of("\xF4\x90\x80\x80", 9), bad + bad + bad + bad);  // beyond the last character
  EXPECT_EQ(label_of("\xF4\x8F\xBF\xBD", 9), "\xF4\x8F\xBF\xBD");
  EXPECT_EQ(label_of("\xFF\xFF\xFF", 2), bad + cut);
}

TEST(Label, NonCharactersAreReplacedAndPrivateOnesStay) {
  EXPECT_EQ(label_of("\uFFFE\uFFFF\uFDD0\uFDEF", 9), bad + bad + bad + bad);
  EXPECT_EQ(label_of("\U0001FFFE\U0010FFFF", 9), bad + bad);
  EXPECT_EQ(label_of("\uE000\uF8FF\uFFFD", 9), "\uE000\uF8FF\uFFFD");
}

TEST(Label, IsOneLineWithoutControlCharacters) {
  EXPECT_EQ(label_of("two\nlines\r\n and\ttabs", 99), "two lines and tabs");
  EXPECT_EQ(label_of("a\u2028b\u2029c\u0085d\u00A0e\u3000f\uFEFFg", 99), "a b c d e f g");
  EXPECT_EQ(label_of(" \x1b[31mred\x7f ", 99), "[31mred");
  for (int c = 0; c < 0x20; ++c)
    EXPECT_EQ(label_of("a" + std::string(1, static_cast<char>(c)) + "b", 9), "a b") << c;
  for (int c = 0x80; c < 0xA0; ++c)
    EXPECT_EQ(label_of("a\xC2" + std::string(1, static_cast<char>(c)) + "b", 9), "a b") << c;
  EXPECT_EQ(label_of(std::string("\0\x1f\x7f\xc2\x85", 5), 9), "");
  EXPECT_EQ(label_of("abc   ", 3), "abc");  // nothing is cut
  EXPECT_EQ(label_of("ab c", 3), "ab" + cut);
  EXPECT_EQ(label_of("a b", 3), "a b");
}

TEST(Label, NothingTurnsTheDirectionOfWhatFollows) {
  for (const char* mark : {"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068",
                           "\u2069", "\u200E", "\u200F", "\u061C"}) {
    EXPECT_EQ(label_of(std::string("a") + mark + "b", 2), "ab");
    EXPECT_EQ(label_of(mark, 9), "");
  }
  EXPECT_EQ(label_of(rtl, 9), rtl);
  EXPECT_EQ(label_of("\u200Da\u2065", 9), "\u200Da\u2065");  // a joiner and a neighbour are no such marks
}

// What is longer than the label does not cost more.
TEST(Label, LongNamesAreNotReadToTheEnd) {
  const std::string name(100'000'000, 'x');
  const auto begin = std::chrono::steady_clock::now();
  std::size_t length = 0;
  for (int i = 0; i < 1000; ++i) length += label_of(name, 20).size();
  EXPECT_EQ(length, 1000 * (19 + cut.size()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace fuselage::report

#include "fuselage/core/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "error_of.h"

namespace fuselage {
namespace {

using testing::StartsWith;

TEST(Csv, WhatIsWrittenReadsBack) {
  const std::vector<std::vector<std::string>> rows = {
      {""}, {"a"}, {"a,b"}, {"say \"so\""}, {" blank "}, {"\xEF\xBB\xBFmark"}, {"caf\xc3\xa9"}};
  std::string text = "name\n";
  for (const auto& row : rows) text += csv_line(row);
  const CsvTable table(text, "t.csv", "name");
  ASSERT_EQ(table.rows().size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(table.rows()[i].fields, rows[i]);
  EXPECT_EQ(csv_line(std::vector<std::string>{"", ""}), ",\n");
}

TEST(Csv, RefusesLatin1WithTheLine) {
  EXPECT_EQ(error_of([] { CsvTable("name,x\ncaf\xc3\xa9,1\ncaf\xe9,2\n", "t.csv", "name,x"); }),
            "t.csv: line 3, column 4: the byte 0xE9 is not UTF-8; expected text in UTF-8");
  EXPECT_EQ(error_of([] { CsvTable("\xff", "t.csv", "name,x"); }),
            "t.csv: line 1, column 1: the byte 0xFF is not UTF-8; expected text in UTF-8");
}

TEST(Csv, RefusesWithThePlace) {
  const auto error = [](const std::string& text) {
    return error_of([&] { CsvTable(text, "t.csv", "a,b"); });
  };
  EXPECT_EQ(error(""), "t.csv: is empty; expected a first line such as a,b");
  EXPECT_THAT(error("a,a\n"), StartsWith("t.csv: line 1, column 2: \"a\" appears twice"));
  EXPECT_THAT(error("a,\n"), StartsWith("t.csv: line 1, column 2: the name is empty"));
  EXPECT_THAT(error("a,b\n\n1\n"), StartsWith("t.csv: line 3: has 1 columns; expected 2"));
  EXPECT_THAT(error("a,b\n1,\"x\n"), StartsWith("t.csv: line 2, column 2: the quote does not end"));
  EXPECT_THAT(error("a,b\n\"1\"2,3\n"), StartsWith("t.csv: line 2, column 1: \"2\" after the quote"));
  const CsvTable table("a,b\n1e3, +2 \nnan,1e999\n", "t.csv", "a,b");
  EXPECT_EQ(table.number(table.rows()[0], 0), 1000);
  EXPECT_EQ(table.number(table.rows()[0], 1), 2);
  for (std::size_t column = 0; column < 2; ++column)
    EXPECT_THAT(error_of([&] { table.number(table.rows()[1], column); }),
                StartsWith("t.csv: line 3, column " + std::to_string(column + 1)));
}

TEST(Csv, ManyColumnsAreReadAtOnce) {
  std::string text;
  for (int c = 0; c < 200'000; ++c) text += (c == 0 ? "c" : ",c") + std::to_string(c);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(CsvTable(text, "t.csv", "a").names().size(), 200'000U);
  EXPECT_THAT(error_of([&] { CsvTable(text + ",c7", "t.csv", "a"); }),
              StartsWith("t.csv: line 1, column 200001: \"c7\" appears twice"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));  // each against each: 30 s
}

}  // namespace
}  // namespace fuselage

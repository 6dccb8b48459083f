// The numbers that people write.
#include "fuselage/core/number_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "error_of.h"
#include "fuselage/core/json.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(NumberText, IntegersInEveryForm) {
  const auto integer = [](const char* text) {
    return read_integer("--n", text, {.min = least, .max = largest});
  };
  EXPECT_EQ(integer("0"), 0);
  EXPECT_EQ(integer("-0.0e7"), 0);
  EXPECT_EQ(integer("0e999999999999999999999"), 0);
  EXPECT_EQ(integer("007"), 7);
  EXPECT_EQ(integer("1e3"), 1'000);
  EXPECT_EQ(integer("1E+6"), 1'000'000);
  EXPECT_EQ(integer("-12.5e2"), -1'250);
  EXPECT_EQ(integer("65536.0"), 65'536);
  EXPECT_EQ(integer("5."), 5);
  EXPECT_EQ(integer(".5e1"), 5);
  EXPECT_EQ(integer("3000e-3"), 3);
  EXPECT_EQ(integer("9223372036854775807"), largest);
  EXPECT_EQ(integer("9.223372036854775807e18"), largest);
  EXPECT_EQ(integer("-9223372036854775808"), least);
}

TEST(NumberText, NumbersAreTheNearestDouble) {
  const auto number = [](const char* text) { return read_number("--x", text, {}); };
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_EQ(number("-.5"), -0.5);
  EXPECT_EQ(number("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("0e400"), 0);
  EXPECT_EQ(number(("0." + std::string(400, '0') + "1e401").c_str()), 1);
  EXPECT_EQ(find_number("1e400"), std::nullopt);
  EXPECT_EQ(find_number("x"), std::nullopt);
}

TEST(NumberText, RefusesWhatIsNone) {
  for (const char* text :
       {"",      " ",     "abc",   "1x",   "x1",  " 1",  "1 ",       "1\n",   "\t1",   "+1",
        "--1",   "-",     ".",     "-.",   "e5",  "1e",  "1e+",      "1e1.5", "1e1 ",  "0x10",
        "0x1p3", "1p3",   "inf",   "-inf", "nan", "NaN", "infinity", "1,000", "1_000", "1'000",
        "1..2",  "1.2.3", "1e2e3", "１",   "½",   "64k", "128MiB"}) {
    const std::string value = quote(text);
    EXPECT_EQ(error_of([&] { read_integer("--n", text, {.min = 1}); }),
              "--n: " + value + " is no integer; expected an integer >= 1");
    EXPECT_EQ(error_of([&] { read_number("--x", text, {.min = 0, .max = 1}); }),
              "--x: " + value + " is no number; expected a number from 0 to 1");
    EXPECT_THAT(error_of([&] { read_integer_digits("--seed", text); }), HasSubstr(value + " is no integer"));
    EXPECT_EQ(find_number(text), std::nullopt);
  }
  for (const char* text : {"1.5", "1e-1", "0.1", "1e-999999999999999999999", "123456789.000000001"})
    EXPECT_THAT(error_of([&] { read_integer("--n", text, {}); }), HasSubstr(" is no integer")) << text;
}

TEST(NumberText, OutOfRangeSaysTheRange) {
  const auto integer = [](const char* text, const IntegerRange& range) {
    return error_of([&] { read_integer("--n", text, range); });
  };
  EXPECT_EQ(integer("-1", {.min = 0}), "--n: -1 is out of range; expected an integer >= 0");
  EXPECT_EQ(integer("1e3", {.min = 1, .max = 10}),
            "--n: 1e3 is out of range; expected an integer from 1 to 10");
  for (const char* text : {"9223372036854775808", "1e19", "1e400", "1e99999999999999999999"})
    EXPECT_EQ(integer(text, {.min = 1}), std::string("--n: ") + text +
                                             " is out of range; expected an integer from 1 to "
                                             "9223372036854775807");
  EXPECT_EQ(integer("-1e400", {.min = 1}), "--n: -1e400 is out of range; expected an integer >= 1");
  EXPECT_LE(integer(std::string(100'000, '9').c_str(), {}).size(), 200U);
  const auto number = [](const char* text, const NumberRange& range) {
    return error_of([&] { read_number("--x", text, range); });
  };
  EXPECT_EQ(number("1.5", {.min = 0, .max = 1}),
            "--x: \"1.5\" is out of range; expected a number from 0 to 1");
  EXPECT_EQ(number("-1", {.min = 0}), "--x: \"-1\" is out of range; expected a finite number >= 0");
  EXPECT_THAT(number("1e309", {.min = 0}),
              HasSubstr("\"1e309\" is out of range; expected a number from 0 to 1.79"));
  EXPECT_THAT(number("-1e309", {}), HasSubstr("is out of range; expected a number from -1.79"));
}

TEST(NumberText, DigitsOfAnySize) {
  EXPECT_EQ(read_integer_digits("--seed", "1e3"), "1000");
  EXPECT_EQ(read_integer_digits("--seed", "-042"), "-42");
  EXPECT_EQ(read_integer_digits("--seed", "-0"), "0");
  EXPECT_EQ(read_integer_digits("--seed", "123456789012345678901234567890"),
            "123456789012345678901234567890");
  EXPECT_EQ(read_integer_digits("--seed", "1e4299").size(), 4'300U);
  for (const char* text : {"1e4300", "1e999999999999"})
    EXPECT_THAT(error_of([&] { read_integer_digits("--seed", text); }),
                HasSubstr("is out of range; expected an integer of at most 4300 digits"));
}

}  // namespace
}  // namespace fuselage

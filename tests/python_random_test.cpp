// The figures were drawn with CPython 3.11.
#include "fuselage/core/python_random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

struct Stream {
  std::string seed;
  std::array<std::uint32_t, 3> words;
  double next;
};

const std::vector<Stream> streams = {
    {"0", {3626764237, 1654615998, 3255389356}, 0.890243920837131},
    {"1", {577090037, 2444712010, 3639700191}, 0.8022650611681835},
    {"42", {2746317213, 478163327, 107420369}, 0.7415504997598329},
    {"4294967295", {2728839433, 2661025012, 872737089}, 0.21534345751528883},
    {"4294967296", {485306839, 1508871100, 1794561286}, 0.9347212762883035},
    {"18446744073709551615", {93740670, 1068495656, 1452108352}, 0.6187512294349632},
    {"18446744073709551616", {4198958755, 3158798261, 1593907883}, 0.09199702366932405},
    {"870743364754541624703", {2787723055, 2771256170, 3357593030}, 0.3706289809143444},
    {"1" + std::string(300, '0'), {2900876247, 3100856705, 39791569}, 0.595200383003393},
    // More words than the state has.
    {std::string(8000, '7'), {2752609068, 1475496324, 3402143889}, 0.7307567822074834},
};

void expect_stream(PythonRandom random, const Stream& expected) {
  for (std::uint32_t word : expected.words) EXPECT_EQ(random.getrandbits(32), word) << expected.seed;
  EXPECT_EQ(random.random(), expected.next) << expected.seed;
}

TEST(PythonRandom, DecimalSeedsGiveCPythonsStream) {
  for (const Stream& stream : streams) {
    expect_stream(PythonRandom(stream.seed), stream);
    expect_stream(PythonRandom("-" + stream.seed), stream);
    expect_stream(PythonRandom("000" + stream.seed), stream);
  }
}

TEST(PythonRandom, IntegerSeedsEqualTheirDecimals) {
  expect_stream(PythonRandom(0), streams[0]);
  expect_stream(PythonRandom(1U), streams[1]);
  expect_stream(PythonRandom(-42), streams[2]);
  expect_stream(PythonRandom(std::uint64_t{4294967296}), streams[4]);
  expect_stream(PythonRandom(std::numeric_limits<std::uint64_t>::max()), streams[5]);
  PythonRandom lowest(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(lowest.random(), PythonRandom("9223372036854775808").random());
}

TEST(PythonRandom, SeedThatIsNoIntegerIsNamed) {
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.5", "0x10", "--1", "12a"}) {
    try {
      PythonRandom random{std::string_view(text)};
      ADD_FAILURE() << '"' << text << "\" was read";
    } catch (const Error& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "seed: \"" + std::string(text) + "\" is no integer; expected decimal digits, optionally after '-'");
    }
  }
}

TEST(PythonRandom, DerivedDrawsAreCPythons) {
  PythonRandom random(12345);
  for (int i = 0; i < 1000; ++i) random.random();
  for (std::int64_t expected : {-2, 1, 7, -1, 2, -1, -3, 5}) EXPECT_EQ(random.randint(-3, 7), expected);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(random.below(1), 0U);
  std::string chosen;
  for (int i = 0; i < 8; ++i) chosen += random.choice(std::array{'a', 'b', 'c'});
  EXPECT_EQ(chosen, "abccccab");
  constexpr std::array<double, 4> cumulative = {1, 3, 6, 10};
  for (std::size_t expected : {2, 1, 1, 2, 2, 2, 3, 3, 2, 3}) EXPECT_EQ(random.choices(cumulative), expected);
  EXPECT_EQ(random.getrandbits(1), 1U);
  EXPECT_EQ(random.getrandbits(2), 0U);
  EXPECT_EQ(random.getrandbits(7), 54U);
  EXPECT_EQ(random.getrandbits(31), 2115302486U);
  EXPECT_EQ(random.getrandbits(32), 191890999U);
  EXPECT_EQ(random.below(4294967295U), 97161378U);
  EXPECT_EQ(random.random(), 0.9689991141932018);
}

}  // namespace
}  // namespace fuselage

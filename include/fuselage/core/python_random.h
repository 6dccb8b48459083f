// The random stream of CPython's random.Random. The public environment draws its graphs from it, so drawing
// the same graphs needs the same stream bit for bit. It also serves wherever a seed has to mean the same on
// every platform: the output of std::*_distribution is not specified.
//
// Generator: MT19937, M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), seeded by the
// init_by_array of their mt19937ar; derived draws as in CPython's Lib/random.py.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace fuselage {

class PythonRandom {
 public:
  // As in Python only |seed| counts: 7 and -7 give one stream.
  explicit PythonRandom(std::integral auto seed)
      : PythonRandom(
            Magnitude{seed < 0 ? 0 - static_cast<std::uint64_t>(seed) : static_cast<std::uint64_t>(seed)}) {}
  // A decimal integer of any length, with an optional '-'. Throws Error for other text. O(digits^2).
  explicit PythonRandom(std::string_view decimal_seed);

  std::uint32_t next_word();             // 32 random bits
  double random();                       // [0, 1), 53 random bits, two words
  std::uint32_t getrandbits(int bits);   // 1 <= bits <= 32, one word
  std::uint32_t below(std::uint32_t n);  // [0, n), n >= 1; at least one word, however small n is
  std::int64_t randint(std::int64_t low, std::int64_t high);  // [low, high], which holds < 2^32 integers

  // random.choice: one of at least one item.
  template <class T, std::size_t n>
  const T& choice(const std::array<T, n>& items) {
    static_assert(n > 0);
    return items[below(static_cast<std::uint32_t>(n))];
  }
  // random.choices, one draw: an index of the never falling `cumulative` weights, of which there is at least
  // one.
  std::size_t choices(std::span<const double> cumulative);

 private:
  struct Magnitude {
    std::uint64_t value;
  };
  explicit PythonRandom(Magnitude seed);
  void seed_by_array(std::span<const std::uint32_t> key);
  void twist();

  static constexpr std::size_t words = 624;
  std::array<std::uint32_t, words> state_{};
  std::size_t next_ = words;  // state_[next_] is tempered next; words: twist first
};

}  // namespace fuselage

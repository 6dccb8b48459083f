#include "fuselage/core/python_random.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

constexpr std::size_t period_offset = 397;

// |seed| in base 2^32, low word first, at least one word.
std::vector<std::uint32_t> words_of(std::string_view decimal) {
  std::string_view digits = decimal;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (digits.empty() || !std::ranges::all_of(digits, is_digit))
    fail("seed: \"{}\" is no integer; expected decimal digits, optionally after '-'", decimal);

  std::vector<std::uint32_t> words;
  while (!digits.empty()) {  // words = words * 10^taken + the next `taken` digits
    const std::size_t taken = std::min<std::size_t>(digits.size(), 9);
    std::uint64_t scale = 1;
    std::uint64_t carry = 0;
    for (char c : digits.substr(0, taken)) {
      scale *= 10;
      carry = carry * 10 + static_cast<std::uint64_t>(c - '0');
    }
    for (std::uint32_t& word : words) {
      carry += word * scale;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words.push_back(static_cast<std::uint32_t>(carry));
    digits.remove_prefix(taken);
  }
  if (words.empty()) words.push_back(0);
  return words;
}

}  // namespace

PythonRandom::PythonRandom(std::string_view decimal_seed) {
  seed_by_array(words_of(decimal_seed));
}

PythonRandom::PythonRandom(Magnitude seed) {
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed.value),
                                            static_cast<std::uint32_t>(seed.value >> 32)};
  seed_by_array(std::span(key).first(key[1] == 0 ? 1 : 2));
}

void PythonRandom::seed_by_array(std::span<const std::uint32_t> key) {
  const auto mixed = [this](std::size_t i) { return state_[i - 1] ^ (state_[i - 1] >> 30); };
  state_[0] = 19650218U;
  for (std::uint32_t i = 1; i < words; ++i) state_[i] = 1812433253U * mixed(i) + i;

  std::size_t i = 1;
  const auto advance = [&] {
    if (++i < words) return;
    state_[0] = state_[words - 1];
    i = 1;
  };
  std::size_t j = 0;
  for (std::size_t k = std::max(words, key.size()); k > 0; --k) {
    state_[i] = (state_[i] ^ (mixed(i) * 1664525U)) + key[j] + static_cast<std::uint32_t>(j);
    advance();
    j = j + 1 < key.size() ? j + 1 : 0;
  }
  for (std::size_t k = words - 1; k > 0; --k) {
    state_[i] = (state_[i] ^ (mixed(i) * 1566083941U)) - static_cast<std::uint32_t>(i);
    advance();
  }
  state_[0] = 0x80000000U;
  next_ = words;
}

void PythonRandom::twist() {
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint32_t joined = (state_[i] & 0x80000000U) | (state_[(i + 1) % words] & 0x7fffffffU);
    const std::uint32_t matrix = (joined & 1U) != 0 ? 0x9908b0dfU : 0U;
    state_[i] = state_[(i + period_offset) % words] ^ (joined >> 1) ^ matrix;
  }
  next_ = 0;
}

std::uint32_t PythonRandom::next_word() {
  if (next_ == words) twist();
  std::uint32_t word = state_[next_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680U;
  word ^= (word << 15) & 0xefc60000U;
  return word ^ (word >> 18);
}

double PythonRandom::random() {
  const std::uint32_t high = next_word() >> 5;  // 27 bits
  const std::uint32_t low = next_word() >> 6;   // 26 bits
  return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

std::uint32_t PythonRandom::getrandbits(int bits) {
  assert(bits >= 1 && bits <= 32);
  return next_word() >> (32 - bits);
}

std::uint32_t PythonRandom::below(std::uint32_t n) {
  assert(n >= 1);
  const int bits = static_cast<int>(std::bit_width(n));
  std::uint32_t drawn = getrandbits(bits);
  while (drawn >= n) drawn = getrandbits(bits);
  return drawn;
}

std::int64_t PythonRandom::randint(std::int64_t low, std::int64_t high) {
  assert(low <= high);
  const std::uint64_t count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  assert(count >= 1 && count <= 0xffffffffU);
  return low + static_cast<std::int64_t>(below(static_cast<std::uint32_t>(count)));
}

std::size_t PythonRandom::choices(std::span<const double> cumulative) {
  assert(!cumulative.empty());
  const double point = random() * cumulative.back();
  const auto last = cumulative.end() - 1;
  return static_cast<std::size_t>(std::upper_bound(cumulative.begin(), last, point) - cumulative.begin());
}

}  // namespace fuselage

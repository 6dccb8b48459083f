// The rule sets of the walk family. `seed` is the public environment bit for bit, `seed_honest` its
// accounting without free residency of tensors that are not there, `physical` what a machine could do.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fuselage::walk {

enum class Rules : std::uint8_t { seed, seed_honest, physical };
// `free` (any topological order) exists under `physical` only.
enum class Order : std::uint8_t { fixed, free };

inline constexpr std::array<std::string_view, 3> rules_names = {"seed", "seed-honest", "physical"};
inline constexpr std::array<std::string_view, 2> order_names = {"fixed", "free"};

constexpr std::string_view name(Rules rules) {
  return rules_names[static_cast<std::size_t>(rules)];
}
constexpr std::string_view name(Order order) {
  return order_names[static_cast<std::size_t>(order)];
}

constexpr std::optional<Rules> parse_rules(std::string_view text) {
  for (std::size_t i = 0; i < rules_names.size(); ++i)
    if (rules_names[i] == text) return static_cast<Rules>(i);
  return std::nullopt;
}

constexpr std::optional<Order> parse_order(std::string_view text) {
  for (std::size_t i = 0; i < order_names.size(); ++i)
    if (order_names[i] == text) return static_cast<Order>(i);
  return std::nullopt;
}

inline constexpr std::array<int, 4> tiles = {32, 64, 128, 256};
inline constexpr int default_tile = 128;
// Index into tiles, or -1: the tiles are the powers of two from 32 to 256.
constexpr int tile_index(int tile) {
  const bool known = tile >= 32 && tile <= 256 && std::has_single_bit(static_cast<unsigned>(tile));
  return known ? std::countr_zero(static_cast<unsigned>(tile)) - 5 : -1;
}

// Cycles charged, instead of its latency, for a node that does not fit in fast memory even alone.
inline constexpr double oom_penalty = 1e6;

}  // namespace fuselage::walk

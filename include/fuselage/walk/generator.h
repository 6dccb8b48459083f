// The procedural generator of the public environment: tensor graphs of six topologies on machines of four
// difficulties, drawn from CPython's random stream. One seed gives here the very graph that it gives there,
// so results on "seed 7, hard, 24 ops" can be compared across the two.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuselage/core/python_random.h"
#include "fuselage/graph/graph.h"

namespace fuselage::walk {

// What the nodes are wired like. `mixed` draws among all blocks; all but `mixed` and `linear` draw nothing.
enum class Topology : std::uint8_t { mixed, linear, attention, residual, long_skip, adversarial };
// How tight the machine is: each step has less fast memory, a slower link, dearer launches, smaller kernels.
enum class Difficulty : std::uint8_t { easy, medium, hard, expert };

inline constexpr std::array<std::string_view, 6> topology_names = {"mixed",    "linear",    "attention",
                                                                   "residual", "long_skip", "adversarial"};
inline constexpr std::array<std::string_view, 4> difficulty_names = {"easy", "medium", "hard", "expert"};

constexpr std::string_view name(Topology topology) {
  return topology_names[static_cast<std::size_t>(topology)];
}
constexpr std::string_view name(Difficulty difficulty) {
  return difficulty_names[static_cast<std::size_t>(difficulty)];
}

constexpr std::optional<Topology> parse_topology(std::string_view text) {
  for (std::size_t i = 0; i < topology_names.size(); ++i)
    if (topology_names[i] == text) return static_cast<Topology>(i);
  return std::nullopt;
}

constexpr std::optional<Difficulty> parse_difficulty(std::string_view text) {
  for (std::size_t i = 0; i < difficulty_names.size(); ++i)
    if (difficulty_names[i] == text) return static_cast<Difficulty>(i);
  return std::nullopt;
}

// The machine of a difficulty for tensors of `tensor_bytes` each: its fast memory holds 6, 4, 3 or 2.5 of
// them. Throws Error unless 1 <= tensor_bytes <= (2^63 - 1) / 8.
Hardware hardware_for(Difficulty difficulty, std::int64_t tensor_bytes);

inline constexpr int max_generated_ops = 1'000'000;

struct GenerateOptions {
  int num_ops = 16;  // 1..max_generated_ops. residual, long_skip and adversarial may stop one op earlier
  Difficulty difficulty = Difficulty::medium;
  Topology topology = Topology::mixed;
  std::int64_t height = 256;  // shape of every tensor, elements of 4 bytes
  std::int64_t width = 256;
};

// "mixed_n24_hard", followed by "_128x64" where the shape is not 256 x 256.
std::string workload_name(const GenerateOptions& options);

// Draws one graph, and leaves `random` where the environment leaves its stream. The workload is named
// workload_name(options). Throws Error for options out of range: all tensors together must stay below
// (2^63 - 1) / 8 bytes, so that no sum of bytes overflows later.
Workload generate(const GenerateOptions& options, PythonRandom& random);

// The same from a fresh stream, with the seed in the name: "mixed_n24_hard_s7". `decimal_seed`: see
// PythonRandom.
Workload generate_seeded(const GenerateOptions& options, std::string_view decimal_seed);

// A training graph: size, difficulty and shape are drawn, harder ones at a higher level, then a mixed graph,
// all from the one stream. Throws Error unless 0 <= level <= 1.
Workload generate_curriculum(double level, PythonRandom& random);

}  // namespace fuselage::walk

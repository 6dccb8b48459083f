// A generator of grid problems of any size, since the contest released five small ones. They are wired as
// networks are: transformer layers (heads side by side, softmax, residuals, a feed-forward part), or a
// convolutional network of 1 x 1 convolutions (bottlenecks, branches, long skips), with shapes, costs and
// machines in the range of the contest's files. Every seed means the same problem everywhere.
//
// The format knows no transposition, so that keys have to come out as Q's transpose in shape: where the
// activations are square they are weights x activations, else heads are as wide as there are tokens (which is
// what the contest's own attention problem does).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fuselage/grid/instance.h"

namespace fuselage::grid {

enum class Network : std::uint8_t { transformer, cnn, mixed };
inline constexpr std::array<std::string_view, 3> network_names = {"transformer", "cnn", "mixed"};

inline constexpr int max_generated_ops = 500'000;  // what JSON files are read up to
inline constexpr std::int64_t max_generated_side = 1 << 16;
// Any op on tiles of 2 x 2 elements with k-steps of 2 holds at most so many: with that every op can run
// alone.
inline constexpr std::int64_t least_generated_capacity = 12;

struct GeneratorOptions {
  Network network = Network::transformer;
  int ops = 100;  // exactly so many, 1 ... max_generated_ops
  std::uint64_t seed = 0;
  // Of the activations that go from layer to layer: as high as there are tokens or pixels, as wide as there
  // are features or channels. Sides of 1 ... max_generated_side; none: multiples of native from the seed.
  std::optional<Tensor> shape = {};
  // The machine. None: one from the seed, scaled with native granularity.
  std::optional<std::int64_t> capacity = {};  // elements, least_generated_capacity or more
  std::optional<double> bandwidth = {};       // elements per time unit
  std::int64_t native_width = 128;            // 1 ... max_generated_side
  std::int64_t native_height = 128;
};

// One connected graph with one output. Throws Error for options out of range.
Instance generate(const GeneratorOptions& options);

}  // namespace fuselage::grid

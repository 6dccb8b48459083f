#include "fuselage/grid/generator.h"

#include <algorithm>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/python_random.h"
#include "generator_blocks.h"

namespace fuselage::grid {
namespace {

// Machines for native tiles of 128 x 128, those of the contest's five files.
struct Profile {
  std::int64_t capacity;  // elements
  double bandwidth;       // elements per time unit
  double matmul;          // base cost, time units
};
constexpr std::int64_t profile_tile = 128 * 128;
constexpr std::array profiles = {
    Profile{.capacity = 60'000, .bandwidth = 20, .matmul = 2000},
    Profile{.capacity = 30'000, .bandwidth = 15, .matmul = 1000},
    Profile{.capacity = 250'000, .bandwidth = 25, .matmul = 5000},
    Profile{.capacity = 600'000, .bandwidth = 50, .matmul = 5000},
    Profile{.capacity = 500'000, .bandwidth = 100, .matmul = 10000},
};
constexpr std::array<double, 3> pointwise_costs = {100, 200, 500};

// Sides in native tiles; no drawn tensor is wider than the widest.
constexpr std::array<std::int64_t, 7> feature_tiles = {4, 6, 8, 12, 16, 24, 32};
constexpr std::array<std::int64_t, 5> square_tiles = {4, 6, 8, 12, 16};
constexpr std::array<std::int64_t, 3> token_tiles = {1, 2, 4};
constexpr std::array<std::int64_t, 5> pixel_tiles = {2, 4, 8, 16, 32};
constexpr std::array<std::int64_t, 4> channel_tiles = {1, 2, 4, 8};
constexpr std::int64_t widest_tiles = 32;
// Hidden layers and later stages, in widths of the first activations, at most.
constexpr std::int64_t widest_factor = 4;

void check(const GeneratorOptions& options) {
  const auto in = [](std::string_view field, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most)
      fail("{}: {} is out of range; expected an integer from {} to {}", field, value, least, most);
  };
  in("ops", options.ops, 1, max_generated_ops);
  in("native_width", options.native_width, 1, max_generated_side);
  in("native_height", options.native_height, 1, max_generated_side);
  if (options.capacity)
    in("capacity", *options.capacity, least_generated_capacity, Instance::max_total_elements);
  if (options.bandwidth &&
      !(*options.bandwidth >= Instance::min_bandwidth && *options.bandwidth <= 1 / Instance::min_bandwidth))
    fail("bandwidth: {} is out of range; expected a number from {} to {}", *options.bandwidth,
         Instance::min_bandwidth, 1 / Instance::min_bandwidth);
  std::int64_t side = widest_tiles * std::max(options.native_width, options.native_height);
  if (options.shape) {
    in("shape: height", options.shape->height, 1, max_generated_side);
    in("shape: width", options.shape->width, 1, max_generated_side);
    side = std::max(options.shape->height, options.shape->width);
  }
  // An op makes one tensor and brings at most one along.
  const std::int64_t most = Instance::max_total_elements / (2 * options.ops);
  if (side > most / (widest_factor * widest_factor * side))
    fail(
        "shape: with sides of {} elements {} ops have too many in all; expected smaller tensors or fewer ops",
        side, options.ops);
}

class Drawing {
 public:
  explicit Drawing(const GeneratorOptions& options)
      : options_(options),
        random_(options.seed),
        profile_(random_.choice(profiles)),
        assembly_(machine(), costs()),
        x_(assembly_.input(shape())),
        first_width_(assembly_.shape(x_).width),
        attention_(attention()),
        feed_forward_(feed_forward()),
        bottleneck_{.width = fewer_channels(random_.randint(1, 2) * 2), .normed = random_.below(2) == 0} {}

  Instance finish() && {
    while (put_block()) made_.push_back(x_);
    // What is left is too little for a block: projections and activations.
    for (int i = 0; left() > 0; ++i)
      x_ = i % 2 == 0 ? assembly_.project(x_, width()) : assembly_.activation(x_);
    return std::move(assembly_).finish();
  }

 private:
  int left() const { return options_.ops - assembly_.ops(); }
  std::int64_t width() const { return assembly_.shape(x_).width; }

  Machine machine() const {
    const std::int64_t tile = options_.native_width * options_.native_height;
    const double scale = static_cast<double>(tile) / static_cast<double>(profile_tile);
    return {.capacity = options_.capacity.value_or(
                std::max(least_generated_capacity, profile_.capacity * tile / profile_tile)),
            .bandwidth = options_.bandwidth.value_or(profile_.bandwidth * scale),
            .native_width = options_.native_width,
            .native_height = options_.native_height};
  }

  BlockCosts costs() {
    BlockCosts costs{.matmul = profile_.matmul};
    for (double* cost : {&costs.norm, &costs.activation, &costs.softmax, &costs.join})
      *cost = random_.choice(pointwise_costs);
    return costs;
  }

  Tensor shape() {
    const std::int64_t tokens = random_.choice(token_tiles);
    const std::int64_t features = random_.choice(feature_tiles);
    const std::int64_t pixels = random_.choice(pixel_tiles);
    const std::int64_t channels = random_.choice(channel_tiles);
    const std::int64_t square = random_.choice(square_tiles);
    const bool is_square = random_.below(2) == 0 && options_.native_width == options_.native_height;
    if (options_.shape) return *options_.shape;
    const std::int64_t w = options_.native_width;
    const std::int64_t h = options_.native_height;
    if (options_.network == Network::cnn) return {.width = channels * w, .height = pixels * h};
    if (is_square) return {.width = square * w, .height = square * h};
    return {.width = features * w, .height = tokens * h};
  }

  // Keys of square activations may have any width, others the tokens' (generator.h).
  Attention attention() {
    const Tensor x = assembly_.shape(x_);
    Attention attention{.heads = random_.choice(std::array{2, 3, 4, 6, 8}),
                        .softmax_ops = static_cast<int>(random_.randint(2, 3)),
                        .head_width = x.height};
    const std::int64_t narrow = random_.randint(1, 2) * options_.native_width;
    if (x.width == x.height) attention.head_width = std::min(x.width, narrow);
    attention.shared_keys = random_.below(3) == 0;
    return attention;
  }

  FeedForward feed_forward() {
    const std::int64_t halves = random_.choice(std::array<std::int64_t, 5>{1, 2, 3, 4, 8});
    const std::int64_t widest = std::max(first_width_, widest_tiles * options_.native_width);
    FeedForward layer{.width = std::clamp<std::int64_t>(first_width_ * halves / 2, 1, widest)};
    layer.gated = random_.below(2) == 0;
    return layer;
  }

  // No layer has fewer channels than a native tile unless the activations have.
  std::int64_t fewer_channels(std::int64_t divisor) const {
    return std::max(width() / divisor, std::min(width(), options_.native_width));
  }

  // False: none fits into the ops that are left.
  bool put_block() {
    if (options_.network == Network::transformer) return put_transformer_block();
    if (options_.network == Network::cnn) return put_cnn_block();
    // Convolutions and transformer layers take turns.
    after_convolution_ = !after_convolution_;
    return after_convolution_ ? put_cnn_block() || put_transformer_block()
                              : put_transformer_block() || put_cnn_block();
  }

  // Attention and feed-forward take turns; the last attention may have fewer heads.
  bool put_transformer_block() {
    after_attention_ = !after_attention_;
    if (after_attention_)
      if (const Attention fitting = attention_.within(left()); fitting.heads > 0) return put(fitting);
    if (feed_forward_.ops() <= left()) return put(feed_forward_);
    const FeedForward plain{.width = feed_forward_.width};
    return plain.ops() <= left() && put(plain);
  }

  bool put_cnn_block() {
    const double kind = random_.random();
    const Branches branches = draw_branches();
    if (kind < 0.35 && branches.ops() <= left()) return put(branches);
    if (kind < 0.5 && put_long_skip()) return true;
    if (kind < 0.6 && options_.network == Network::cnn && left() >= stage_ops) return put_stage();
    if (bottleneck_.ops() <= left()) return put(bottleneck_);
    const Bottleneck plain{.width = bottleneck_.width};
    return plain.ops() <= left() && put(plain);
  }

  Branches draw_branches() {
    Branches result;
    const auto count = static_cast<int>(random_.randint(2, 4));
    for (int i = 0; i < count; ++i) {
      const std::int64_t divisor = random_.randint(1, 4);
      result.branches.push_back({.depth = 1 + i % 3, .width = fewer_channels(divisor)});
    }
    return result;
  }

  // From two to eight blocks ago.
  bool put_long_skip() {
    const auto back = static_cast<std::size_t>(random_.randint(2, 8));
    if (made_.size() <= back) return false;
    const LongSkip skip{.from = made_[made_.size() - 1 - back]};
    return skip.ops(assembly_, x_) <= left() && put(skip);
  }

  // The network goes on with other channels.
  static constexpr int stage_ops = 2;
  bool put_stage() {
    const std::int64_t widest = std::max(first_width_, widest_tiles * options_.native_width);
    const std::int64_t factor = random_.choice(std::array<std::int64_t, 3>{1, 2, 4});
    x_ = assembly_.activation(assembly_.project(x_, std::min(widest, first_width_ * factor)));
    return true;
  }

  template <class Block>
  bool put(const Block& block) {
    x_ = block.put(assembly_, x_);
    return true;
  }

  const GeneratorOptions& options_;
  PythonRandom random_;
  Profile profile_;
  Assembly assembly_;
  TensorId x_;  // the newest activations
  std::int64_t first_width_;
  Attention attention_;
  FeedForward feed_forward_;
  Bottleneck bottleneck_;
  std::vector<TensorId> made_;  // by the blocks so far
  bool after_attention_ = false;
  bool after_convolution_ = false;
};

}  // namespace

Instance generate(const GeneratorOptions& options) {
  check(options);
  return Drawing(options).finish();
}

}  // namespace fuselage::grid

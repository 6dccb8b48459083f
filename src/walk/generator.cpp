#include "fuselage/walk/generator.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"

namespace fuselage::walk {
namespace {

constexpr std::int64_t max_total_bytes = std::numeric_limits<std::int64_t>::max() / 8;

// A block is wired by offsets from its first node; `x` is the node that it is put on, `none` no input.
constexpr int x = -1;
constexpr int none = -2;
struct Part {
  Op op;
  int first;
  int second = none;
};
using Block = std::span<const Part>;

constexpr std::array residual_block = {Part{Op::matmul, x}, Part{Op::relu, 0}, Part{Op::matmul, 1},
                                       Part{Op::add, x, 2}};
constexpr std::array diamond_block = {Part{Op::matmul, x}, Part{Op::relu, 0}, Part{Op::matmul, x},
                                      Part{Op::gelu, 2}, Part{Op::add, 1, 3}};
constexpr std::array attention_block = {Part{Op::matmul, x},    Part{Op::matmul, x},  Part{Op::matmul, x},
                                        Part{Op::matmul, 0, 1}, Part{Op::softmax, 3}, Part{Op::matmul, 4, 2}};
constexpr std::array long_skip_block = {Part{Op::matmul, x}, Part{Op::relu, 0},   Part{Op::layernorm, 1},
                                        Part{Op::gelu, 2},   Part{Op::add, x, 3}, Part{Op::add, 0, 4}};
constexpr std::array multi_skip_block = {Part{Op::matmul, x}, Part{Op::relu, 0}, Part{Op::matmul, 1},
                                         Part{Op::add, 0, 2}, Part{Op::gelu, 3}, Part{Op::layernorm, 4},
                                         Part{Op::add, 0, 5}};
constexpr std::array bottleneck_block = {Part{Op::matmul, x}, Part{Op::relu, 0},   Part{Op::matmul, 1},
                                         Part{Op::gelu, 2},   Part{Op::matmul, 3}, Part{Op::layernorm, 4}};

constexpr std::array chain_ops = {Op::relu, Op::gelu, Op::layernorm};
constexpr std::array filler_ops = {Op::relu, Op::gelu};

class Drawing {
 public:
  Drawing(const GenerateOptions& options, PythonRandom& random) : options_(options), random_(random) {
    nodes_.reserve(static_cast<std::size_t>(options.num_ops) + multi_skip_block.size());
    add(Op::matmul, {});
  }

  std::vector<Node> finish() && {
    switch (options_.topology) {
      case Topology::mixed:
        mixed();
        break;
      case Topology::linear:
        linear();
        break;
      case Topology::attention:
        attention();
        break;
      case Topology::residual:
        residual();
        break;
      case Topology::long_skip:
        long_skip();
        break;
      case Topology::adversarial:
        adversarial();
        break;
    }
    if (size() > options_.num_ops) nodes_.resize(static_cast<std::size_t>(options_.num_ops));
    return std::move(nodes_);
  }

 private:
  int size() const { return static_cast<int>(nodes_.size()); }
  int remaining() const { return options_.num_ops - size(); }
  NodeId last() const { return size() - 1; }

  void add(Op op, std::vector<NodeId> inputs) {
    nodes_.push_back(derived_node(op, options_.height, options_.width, std::move(inputs)));
  }
  void add_block(Block block) {
    const NodeId input = last();
    const NodeId begin = size();
    const auto id = [&](int offset) { return offset == x ? input : begin + offset; };
    for (const Part& part : block) {
      if (part.second == none)
        add(part.op, {id(part.first)});
      else
        add(part.op, {id(part.first), id(part.second)});
    }
  }
  void add_block_or_relu(Block block) {
    if (remaining() >= static_cast<int>(block.size()))
      add_block(block);
    else
      add(Op::relu, {last()});
  }

  void linear() {
    while (remaining() > 0) add(random_.choice(chain_ops), {last()});
  }
  void attention() {
    while (remaining() > 1) add_block(attention_block);
    add(Op::layernorm, {last()});
  }
  void residual() {
    while (remaining() > 1) add_block(residual_block);
  }
  void long_skip() {
    while (remaining() > 1)
      add_block_or_relu(remaining() >= 7 ? Block(multi_skip_block) : Block(long_skip_block));
  }
  void adversarial() {
    constexpr std::array<Block, 3> cycle = {long_skip_block, multi_skip_block, bottleneck_block};
    for (std::size_t turn = 0; remaining() > 1; ++turn) add_block_or_relu(cycle[turn % cycle.size()]);
  }

  void mixed() {
    constexpr std::array<double, 7> cumulative = {15, 35, 45, 55, 75, 90, 100};  // percent, chain first
    constexpr std::array<Block, 6> blocks = {residual_block,  diamond_block,    attention_block,
                                             long_skip_block, multi_skip_block, bottleneck_block};
    std::vector<NodeId> skips = {0};
    while (remaining() > 0) {
      const std::size_t kind = random_.choices(cumulative);
      if (kind == 0 || remaining() < 4) {
        const auto length = std::min<std::int64_t>(random_.randint(2, 4), remaining());
        for (std::int64_t i = 0; i < length; ++i) add(random_.choice(chain_ops), {last()});
        skips.push_back(last());
      } else if (const Block block = blocks[kind - 1]; remaining() >= static_cast<int>(block.size())) {
        add_block(block);
        skips.push_back(last());
      } else {
        add(random_.choice(filler_ops), {last()});
      }
      if (skips.size() > 2 && random_.random() < 0.3) {
        const NodeId skip = skips[random_.below(static_cast<std::uint32_t>(skips.size() - 1))];
        add(Op::add, {skip, last()});
      }
    }
  }

  const GenerateOptions& options_;
  PythonRandom& random_;
  std::vector<Node> nodes_;
};

void check(const GenerateOptions& options) {
  if (options.num_ops < 1 || options.num_ops > max_generated_ops)
    fail("num_ops: {} is out of range; expected 1 to {}", options.num_ops, max_generated_ops);
  const std::int64_t height = options.height;
  const std::int64_t width = options.width;
  if (height < 1 || width < 1)
    fail("shape: [{}, {}] is not positive; expected two integers >= 1", height, width);
  const std::int64_t max_elements = max_total_bytes / 4 / options.num_ops;
  if (height > max_elements / width)
    fail("shape: [{}, {}] is too large; expected height * width <= {} for {} ops", height, width,
         max_elements, options.num_ops);
}

}  // namespace

Hardware hardware_for(Difficulty difficulty, std::int64_t tensor_bytes) {
  if (tensor_bytes < 1 || tensor_bytes > max_total_bytes)
    fail("tensor_bytes: {} is out of range; expected 1 to {}", tensor_bytes, max_total_bytes);
  switch (difficulty) {
    case Difficulty::easy:
      return {tensor_bytes * 6, 15, 2000, 8};
    case Difficulty::medium:
      return {tensor_bytes * 4, 10, 3000, 6};
    case Difficulty::hard:
      return {tensor_bytes * 3, 8, 4000, 5};
    case Difficulty::expert:
      break;
  }
  return {tensor_bytes * 5 / 2, 6, 5000, 4};
}

std::string workload_name(const GenerateOptions& options) {
  std::string text =
      fmt::format("{}_n{}_{}", name(options.topology), options.num_ops, name(options.difficulty));
  if (options.height != 256 || options.width != 256)
    text += fmt::format("_{}x{}", options.height, options.width);
  return text;
}

Workload generate(const GenerateOptions& options, PythonRandom& random) {
  check(options);
  return {.name = workload_name(options),
          .graph = Graph(Drawing(options, random).finish()),
          .hardware = hardware_for(options.difficulty, options.height * options.width * 4)};
}

Workload generate_seeded(const GenerateOptions& options, std::string_view decimal_seed) {
  PythonRandom random(decimal_seed);
  Workload workload = generate(options, random);
  workload.name += fmt::format("_s{}", decimal_seed);
  return workload;
}

Workload generate_curriculum(double level, PythonRandom& random) {
  if (!(level >= 0 && level <= 1)) fail("level: {} is out of range; expected a number from 0 to 1", level);
  struct Stage {
    int low, high;
    std::array<Difficulty, 2> difficulties;
  };
  constexpr Stage early = {8, 16, {Difficulty::easy, Difficulty::medium}};
  constexpr Stage middle = {16, 32, {Difficulty::medium, Difficulty::hard}};
  constexpr Stage late = {32, 50, {Difficulty::hard, Difficulty::expert}};
  const Stage& stage = level < 0.3 ? early : level < 0.7 ? middle : late;

  GenerateOptions options;
  options.num_ops = static_cast<int>(random.randint(stage.low, stage.high));
  options.difficulty = random.choice(stage.difficulties);
  options.height = options.width = random.choice(std::array<std::int64_t, 3>{128, 256, 512});
  return generate(options, random);
}

}  // namespace fuselage::walk

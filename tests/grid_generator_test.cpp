// Generated grid problems: of the size that was asked for, the same for every seed, connected, and such that
// there is a plan and something to decide.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/hash.h"
#include "fuselage/grid/evaluate.h"
#include "fuselage/grid/generator.h"
#include "fuselage/grid/groups.h"
#include "fuselage/grid/problem_json.h"

namespace fuselage::grid {
namespace {

using testing::HasSubstr;

constexpr Network networks[] = {Network::transformer, Network::cnn, Network::mixed};

// Every matmul's operands agree, and everything pointwise has one shape.
void expect_shapes_agree(const Instance& instance) {
  for (const Op& op : instance.ops()) {
    ASSERT_EQ(op.outputs.size(), 1U);
    const Tensor& out = instance.tensor(op.outputs[0]);
    const Tensor& first = instance.tensor(op.inputs[0]);
    EXPECT_EQ(out.height, first.height);
    if (op.kind == OpKind::matmul) {
      const Tensor& second = instance.tensor(op.inputs[1]);
      EXPECT_EQ(first.width, second.height);
      EXPECT_EQ(out.width, second.width);
      continue;
    }
    for (const TensorId input : op.inputs) {
      EXPECT_EQ(instance.tensor(input).width, out.width);
      EXPECT_EQ(instance.tensor(input).height, out.height);
    }
  }
}

// All ops hang together by what they make and read.
bool connected(const Instance& instance) {
  std::vector<std::size_t> leader(static_cast<std::size_t>(instance.tensor_count()));
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](TensorId t) {
    auto at = static_cast<std::size_t>(t);
    while (leader[at] != at) at = leader[at] = leader[leader[at]];
    return at;
  };
  for (const Op& op : instance.ops())
    for (const TensorId input : op.inputs) leader[find(input)] = find(op.outputs[0]);
  for (TensorId t = 1; t < instance.tensor_count(); ++t)
    if (find(t) != find(0)) return false;
  return true;
}

int outputs_of(const Instance& instance) {
  int count = 0;
  for (TensorId t = 0; t < instance.tensor_count(); ++t) count += instance.is_output(t) ? 1 : 0;
  return count;
}

// Each op is a kernel of its own, at the granularity that is cheapest for it.
Plan every_op_alone(const Groups& groups) {
  Plan plan;
  for (const OpId op : groups.instance().order()) {
    const Group& group = groups.of(std::vector{op});
    const KernelPricer::Best best = groups.best(group, 0, 0);
    EXPECT_TRUE(best.cost.legal()) << "op " << op;
    plan.kernels.push_back(kernel_of(group.shape(), {best.granularity, best.traversal}));
    plan.kernels.back().ops = {op};  // a class shares the shape of its first group
  }
  return plan;
}

TEST(GridGenerator, makes_exactly_as_many_ops_as_were_asked_for) {
  for (const Network network : networks)
    for (const int ops : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 20, 40, 100, 101, 1000, 10'000}) {
      SCOPED_TRACE(fmt::format("{} {}", network_names[static_cast<std::size_t>(network)], ops));
      for (std::uint64_t seed = 0; seed < (ops > 1000 ? 1U : 5U); ++seed) {
        const Instance instance = generate({.network = network, .ops = ops, .seed = seed});
        EXPECT_EQ(instance.op_count(), ops);
        EXPECT_TRUE(connected(instance));
        EXPECT_EQ(outputs_of(instance), 1) << "whatever is made is read, but for the last";
        expect_shapes_agree(instance);
      }
    }
}

TEST(GridGenerator, a_problem_survives_its_file) {
  for (const Network network : networks)
    for (const int ops : {1, 7, 100, 10'000}) {
      const std::string text = problem_to_json(generate({.network = network, .ops = ops, .seed = 3}));
      EXPECT_EQ(problem_to_json(read_problem(text, "generated")), text);
    }
}

TEST(GridGenerator, equal_seeds_mean_equal_bytes_and_other_seeds_other_graphs) {
  std::set<std::string> seen;
  for (const Network network : networks)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const GeneratorOptions options{.network = network, .ops = 100, .seed = seed};
      const std::string text = problem_to_json(generate(options));
      EXPECT_EQ(problem_to_json(generate(options)), text);
      EXPECT_TRUE(seen.insert(text).second) << "seed " << seed << " draws what another did";
    }
}

// What a seed means changes on no platform, and not by accident.
TEST(GridGenerator, recorded_problems) {
  EXPECT_EQ(problem_to_json(generate({.network = Network::mixed, .ops = 9, .seed = 5})), R"({
  "widths": [1536, 384, 384, 384, 384, 384, 384, 1536, 1536, 1536, 1536, 1536, 1536, 1536],
  "heights": [1536, 1536, 1536, 1536, 384, 1536, 1536, 384, 1536, 1536, 1536, 1536, 1536, 1536],
  "inputs": [[0, 1], [2], [3, 4], [5], [6, 7], [0, 8], [9], [10, 11], [12]],
  "outputs": [[2], [3], [5], [6], [8], [9], [10], [12], [13]],
  "base_costs": [10000, 500, 10000, 500, 10000, 500, 500, 10000, 500],
  "op_types": ["MatMul", "Pointwise", "MatMul", "Pointwise", "MatMul", "Pointwise", "Pointwise", "MatMul", "Pointwise"],
  "fast_memory_capacity": 500000,
  "slow_memory_bandwidth": 100,
  "native_granularity": [128, 128]
}
)");
  const auto digest = [](Network network) {
    return sha256_hex(problem_to_json(generate({.network = network, .ops = 1000, .seed = 7})));
  };
  EXPECT_EQ(digest(Network::transformer), "214e2ca59c454741685a758b808b3613c0ada90e4d524fa0db77765c65b70bc1");
  EXPECT_EQ(digest(Network::cnn), "b6a6fcc5749e08aec9eff79f9a2f8f8616ea32de32f9499d28b7b53a4ec939dd");
  EXPECT_EQ(digest(Network::mixed), "e0f0bcff62609d0c663c94831ff87f7ab733eb54c361baab2383eb933798b349");
}

TEST(GridGenerator, every_op_can_run_alone) {
  for (const Network network : networks)
    for (const int ops : {1, 7, 100, 1000}) {
      const Instance instance = generate({.network = network, .ops = ops, .seed = 11});
      const Groups groups(instance, {});
      const Evaluation judged = evaluate(instance, {}, every_op_alone(groups));
      EXPECT_TRUE(judged.valid()) << judged.violation->message;
      EXPECT_GT(judged.latency, 0);
    }
  for (const Network network : networks) every_op_alone(Groups(generate({network, 10'000, 12}), {}));
}

TEST(GridGenerator, every_op_can_run_alone_in_the_least_memory) {
  for (const Network network : networks) {
    const Instance instance = generate({.network = network,
                                        .ops = 60,
                                        .shape = Tensor{.width = 12, .height = 12},
                                        .capacity = least_generated_capacity,
                                        .native_width = 4,
                                        .native_height = 4});
    const Groups groups(instance, {});
    const Evaluation judged = evaluate(instance, {}, every_op_alone(groups));
    EXPECT_TRUE(judged.valid()) << judged.violation->message;
  }
}

// Some neighbours are cheaper as one kernel and some are not, or don't even fit.
TEST(GridGenerator, there_is_something_to_decide) {
  for (const Network network : networks)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Instance instance = generate({.network = network, .ops = 100, .seed = seed});
      const Groups groups(instance, {});
      int better = 0;
      int worse = 0;
      for (OpId reader = 0; reader < instance.op_count(); ++reader)
        for (const TensorId input : instance.op(reader).inputs) {
          if (instance.is_input(input)) continue;
          const OpId maker = instance.producer(input);
          const double apart = groups.of(std::vector{maker}).cost + groups.of(std::vector{reader}).cost;
          const Group& both = groups.of(std::vector{maker, reader});
          (both.usable && both.cost < apart * (1 - 1e-9) ? better : worse) += 1;
        }
      EXPECT_GT(better, 3) << seed;
      EXPECT_GT(worse, 0) << seed;
      std::vector<OpId> all(static_cast<std::size_t>(instance.op_count()));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_FALSE(groups.of(all).usable) << seed;
    }
}

// What tells the networks apart: attention multiplies what is made with what is made.
TEST(GridGenerator, networks_are_what_they_are_called) {
  const auto products_of_made = [](const Instance& instance) {
    return std::count_if(instance.ops().begin(), instance.ops().end(), [&](const Op& op) {
      return op.kind == OpKind::matmul && !instance.is_input(op.inputs[0]) &&
             !instance.is_input(op.inputs[1]);
    });
  };
  // The longest way between the maker of something and its reader, in ops.
  const auto longest_skip = [](const Instance& instance) {
    OpId longest = 0;
    for (OpId op = 0; op < instance.op_count(); ++op)
      for (const TensorId input : instance.op(op).inputs)
        if (!instance.is_input(input)) longest = std::max(longest, op - instance.producer(input));
    return longest;
  };
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Instance transformer = generate({Network::transformer, 1000, seed});
    const Instance cnn = generate({Network::cnn, 1000, seed});
    const Instance mixed = generate({Network::mixed, 1000, seed});
    EXPECT_GT(products_of_made(transformer), 80);
    EXPECT_EQ(products_of_made(cnn), 0);
    EXPECT_GT(products_of_made(mixed), 20);
    EXPECT_LT(products_of_made(mixed), products_of_made(transformer));
    EXPECT_GT(longest_skip(cnn), 30);
  }
}

TEST(GridGenerator, does_what_the_options_say) {
  const Instance instance = generate({.ops = 50,
                                      .shape = Tensor{.width = 96, .height = 80},
                                      .capacity = 1234,
                                      .bandwidth = 2.5,
                                      .native_width = 16,
                                      .native_height = 8});
  EXPECT_EQ(instance.machine().capacity, 1234);
  EXPECT_EQ(instance.machine().bandwidth, 2.5);
  EXPECT_EQ(instance.machine().native_width, 16);
  EXPECT_EQ(instance.machine().native_height, 8);
  for (TensorId t = 0; t < instance.tensor_count(); ++t) {
    if (!instance.is_output(t)) continue;
    EXPECT_EQ(instance.tensor(t).width, 96);
    EXPECT_EQ(instance.tensor(t).height, 80);
  }
}

TEST(GridGenerator, drawn_sizes_are_those_of_the_contest) {
  for (const Network network : networks)
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Instance instance = generate({network, 200, seed});
      for (const Tensor& tensor : instance.tensors()) {
        EXPECT_GE(std::min(tensor.width, tensor.height), 128);
        EXPECT_LE(std::max(tensor.width, tensor.height), 4096);
      }
      EXPECT_GE(instance.machine().capacity, 30'000);
      EXPECT_LE(instance.machine().capacity, 600'000);
    }
}

TEST(GridGenerator, refuses_what_is_out_of_range) {
  const auto refusal = [](const GeneratorOptions& options) { return error_of([&] { generate(options); }); };
  EXPECT_EQ(refusal({.ops = 0}), "ops: 0 is out of range; expected an integer from 1 to 500000");
  EXPECT_THAT(refusal({.ops = max_generated_ops + 1}), HasSubstr("ops: 500001 is out of range"));
  EXPECT_THAT(refusal({.shape = Tensor{.width = 0, .height = 5}}),
              HasSubstr("shape: width: 0 is out of range; expected an integer from 1 to 65536"));
  EXPECT_THAT(refusal({.shape = Tensor{.width = 5, .height = 65537}}), HasSubstr("shape: height: 65537 is"));
  EXPECT_THAT(refusal({.ops = 100'000, .shape = Tensor{.width = 65536, .height = 65536}}),
              HasSubstr("shape: with sides of 65536 elements 100000 ops have too many in all"));
  EXPECT_THAT(refusal({.capacity = 2}),
              HasSubstr("capacity: 2 is out of range; expected an integer from 12"));
  EXPECT_THAT(refusal({.bandwidth = 0.0}), HasSubstr("bandwidth: 0 is out of range; expected a number from"));
  EXPECT_THAT(refusal({.native_width = 0}), HasSubstr("native_width: 0 is out of range"));
}

}  // namespace
}  // namespace fuselage::grid

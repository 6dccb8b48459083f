// Legal plans whose prices are worked out by hand from the rules, a comment each: what golden figures hardly
// reach, such as fallbacks by duplicate retains, write-backs, and outputs that stay resident to the end.
#include <gtest/gtest.h>

#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"

namespace fuselage::oracle {
namespace {

using walk::Rules;

// Five tensors of 64 x 64 (16384 B; a slice is 4096 B at tile 32, all of it from tile 64 on). Node 0 feeds 1,
// 2 and 3, node 1 feeds 3, node 3 feeds 4; 2 and 4 are the graph's outputs. A tensor moves in 2048 cycles.
Graph five_nodes() {
  const auto node = [](Op op, std::vector<NodeId> inputs, double flops) {
    Node made = derived_node(op, 64, 64, std::move(inputs));
    made.flops = flops;
    return made;
  };
  return Graph({node(Op::matmul, {}, 1000), node(Op::relu, {0}, 100), node(Op::gelu, {0}, 100),
                node(Op::add, {0, 1}, 100), node(Op::softmax, {3}, 200)});
}

constexpr Hardware small_machine = {
    .fast_mem_capacity = 40000, .slow_mem_bandwidth = 8, .kernel_launch_cost = 500, .max_fusion_depth = 4};

struct Expected {
  double latency;
  std::int64_t working_set;
  std::vector<NodeId> loads;
  std::vector<NodeId> writes;
  std::vector<NodeId> resident_after;
};

void check_prices(const Simulation& result, const std::vector<Expected>& expected) {
  ASSERT_TRUE(result.legal()) << result.fault->message;
  ASSERT_EQ(result.kernels.size(), expected.size());
  double total = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("kernel " + std::to_string(i));
    EXPECT_EQ(result.kernels[i].latency, expected[i].latency);
    EXPECT_EQ(result.kernels[i].working_set, expected[i].working_set);
    EXPECT_EQ(result.kernels[i].loads, expected[i].loads);
    EXPECT_EQ(result.kernels[i].writes, expected[i].writes);
    EXPECT_EQ(result.kernels[i].resident_after, expected[i].resident_after);
    EXPECT_EQ(result.kernels[i].total, total += expected[i].latency);
  }
  EXPECT_EQ(result.latency, total);
}

// Kernel 0: matmul at a quarter of the tile 1000 / sqrt(1/4) + 4 tiles * 20 = 2080, relu 100: 2180 > store of
// 0,
//           2048. Its outputs 0 and 1 as slices, the retained 1 in full: 8192 + 16384.
// Kernel 1: load 0, store 2: 4096. Two slices and the resident 1.
// Kernel 2: 1 is read for the last time, so it is charged: load 0 and 1, store 4: 6144. Softmax fills 4
// tiles.
TEST(SimulateByHand, seed_charges_a_last_read) {
  const walk::Plan plan = {{{0, 1}, 32, {1}}, {{2}, 32, {}}, {{3, 4}, 32, {}}};
  for (Rules rules : {Rules::seed, Rules::seed_honest})
    check_prices(simulate(five_nodes(), small_machine, plan, {.rules = rules}),
                 {{2680, 24576, {}, {0}, {1}}, {4596, 24576, {0}, {2}, {1}}, {6644, 12288, {0, 1}, {4}, {}}});
}

// The group of one at node 0 is not checked when it starts; as it closes, the three entries count 49152 B.
// Alone: matmul 1000 + 1 tile * 20, store 2048. {1, 2, 3} fits as node 3 joins: slices of 0, 2, 3 and nothing
// else, as 0 is not resident.
TEST(SimulateByHand, duplicate_retains_force_the_fallback) {
  const walk::Plan plan = {{{0}, 32, {0, 0, 0}}, {{1}, 32, {}}, {{2}, 32, {}}, {{3, 4}, 32, {}}};
  const auto result = simulate(five_nodes(), small_machine, plan, {.rules = Rules::seed_honest});
  check_prices(result, {{2548, 53248, {}, {0}, {}},
                        {4596, 8192, {0}, {1}, {}},
                        {4596, 8192, {0}, {2}, {}},
                        {6644, 12288, {0, 1}, {4}, {}}});
  EXPECT_TRUE(result.kernels[0].fallback);
  EXPECT_EQ(result.kernels[0].launches, 1);
  EXPECT_EQ(result.kernels[0].compute_cycles, 1020);
  EXPECT_FALSE(result.kernels[1].fallback);
}

// {1, 2} retains the resident 0 twice. It fits as node 2 joins (two slices, 0 once: 24576 B), but then 0
// leaves at its last use, and as the kernel closes the two entries count in full: 8192 + 32768. Alone at tile
// 128, node 1 moves two tensors (4096 + 500), and node 2 needs 49152 B: the penalty instead of its latency.
TEST(SimulateByHand, a_group_that_fails_as_it_closes_runs_alone) {
  std::vector<Node> nodes = {derived_node(Op::relu, 64, 64, {}), derived_node(Op::relu, 64, 64, {0}),
                             derived_node(Op::add, 64, 64, {0, 1})};
  const Graph graph(std::move(nodes));
  const auto result =
      simulate(graph, small_machine, {{{0}, 32, {0}}, {{1, 2}, 32, {0, 0}}}, {.rules = Rules::seed});
  check_prices(result, {{909.6, 20480, {}, {}, {0}}, {1004596, 40960, {0}, {1}, {}}});
  EXPECT_TRUE(result.kernels[1].fallback);
  EXPECT_EQ(result.kernels[1].launches, 2);
  EXPECT_EQ(result.kernels[1].compute_cycles, 409.6);
  EXPECT_EQ(result.kernels[1].memory_cycles, 4096);
}

// Members 1 and 2 both load 0: it is there twice, as the traffic is.
TEST(SimulateByHand, a_fallback_counts_every_load) {
  Hardware machine = small_machine;
  machine.fast_mem_capacity = 50000;
  const Graph graph({derived_node(Op::relu, 64, 64, {}), derived_node(Op::relu, 64, 64, {0}),
                     derived_node(Op::add, 64, 64, {0, 1})});
  const walk::Plan plan = {{{0}, 32, {0}}, {{1, 2}, 32, {0, 0, 0}}};
  const auto result = simulate(graph, machine, plan, {.rules = Rules::seed});
  check_prices(result, {{909.6, 20480, {}, {}, {0}}, {11240, 57344, {0, 0, 1}, {1, 2}, {}}});
  EXPECT_EQ(result.kernels[1].memory_cycles, 5 * 2048);
}

TEST(SimulateByHand, a_machine_too_small_costs_a_million_a_node) {
  Hardware tiny = small_machine;
  tiny.fast_mem_capacity = 3000;
  const walk::Plan plan = {{{0}, 32, {}}, {{1}, 32, {}}, {{2}, 32, {}}, {{3}, 32, {}}, {{4}, 32, {}}};
  const auto result = simulate(five_nodes(), tiny, plan, {.rules = Rules::seed});
  ASSERT_TRUE(result.legal());
  EXPECT_EQ(result.latency, 5e6);
}

// Kernel 0 retains 3 before it exists, which only seed allows; it then counts as a resident until 4 reads it.
TEST(SimulateByHand, phantoms_are_legal_under_seed_only) {
  const walk::Plan plan = {{{0}, 32, {3}}, {{1}, 32, {}}, {{2}, 32, {}}, {{3, 4}, 32, {}}};
  check_prices(simulate(five_nodes(), small_machine, plan, {.rules = Rules::seed}),
               {{2580, 20480, {}, {0}, {3}},
                {4596, 24576, {0}, {1}, {3}},
                {4596, 24576, {0}, {2}, {3}},
                {6644, 12288, {0, 1}, {4}, {}}});
  const auto honest = simulate(five_nodes(), small_machine, plan, {.rules = Rules::seed_honest});
  ASSERT_TRUE(honest.fault);
  EXPECT_EQ(honest.fault->code, FaultCode::retain);
  EXPECT_EQ(honest.fault->kernel, 0);
}

// At half of tile 128 a compute op is multiplied by 1 / sqrt(1/2); dividing by the root differs in the last
// bit.
TEST(SimulateByHand, efficiency_is_a_factor) {
  Node node = derived_node(Op::matmul, 64, 64, {});
  node.flops = 7;
  Hardware free_traffic = small_machine;
  free_traffic.slow_mem_bandwidth = 0;
  free_traffic.kernel_launch_cost = 0;
  const auto result = simulate(Graph({node}), free_traffic, {{{0}, 64, {}}}, {.rules = Rules::seed});
  EXPECT_EQ(result.latency, 10.039494936611664);
}

// As under seed, but 1 is read free at its last use: kernel 2 loads 0 and stores 4, 4096.
TEST(SimulateByHand, physical_reads_a_resident_free) {
  const walk::Plan plan = {{{0, 1}, 32, {1}}, {{2}, 32, {1}}, {{3, 4}, 32, {}}};
  check_prices(simulate(five_nodes(), small_machine, plan, {.rules = Rules::physical}),
               {{2680, 20480, {}, {0}, {1}}, {4596, 24576, {0}, {2}, {1}}, {4596, 24576, {0}, {4}, {}}});
}

// Kernel 2 lets 0 and 1 go, both to be read again: 0 has a copy in slow memory, 1 is written back beside 2.
TEST(SimulateByHand, physical_writes_back_what_has_no_copy) {
  const walk::Plan plan = {{{0}, 32, {}}, {{1}, 32, {0, 1}}, {{2}, 32, {}}, {{3, 4}, 32, {}}};
  check_prices(simulate(five_nodes(), small_machine, plan, {.rules = Rules::physical}),
               {{2580, 4096, {}, {0}, {}},
                {2548, 32768, {0}, {}, {0, 1}},
                {4596, 36864, {}, {1, 2}, {}},
                {6644, 12288, {0, 1}, {4}, {}}});
}

// Output 2 stays resident unwritten until the end; the last kernel writes it and its own output 4, retained
// or not.
TEST(SimulateByHand, physical_writes_outputs_at_the_end) {
  Hardware larger = small_machine;
  larger.fast_mem_capacity = 60000;
  const walk::Plan plan = {{{0, 1}, 32, {1}}, {{2}, 32, {1, 2}}, {{3, 4}, 32, {2, 4}}};
  check_prices(simulate(five_nodes(), larger, plan, {.rules = Rules::physical}),
               {{2680, 20480, {}, {0}, {1}}, {2548, 36864, {0}, {}, {1, 2}}, {6644, 53248, {0}, {2, 4}, {}}});
}

// Kernel 2 retains 1 after its last read: it counts there, and is gone afterwards.
TEST(SimulateByHand, physical_drops_the_dead) {
  const walk::Plan plan = {{{0, 1}, 32, {1}}, {{2}, 32, {1}}, {{3}, 32, {1, 3}}, {{4}, 32, {}}};
  check_prices(simulate(five_nodes(), small_machine, plan, {.rules = Rules::physical}),
               {{2680, 20480, {}, {0}, {1}},
                {4596, 24576, {0}, {2}, {1}},
                {2548, 36864, {0}, {}, {3}},
                {2548, 20480, {}, {4}, {}}});
}

// Cycles are summed in the order of the graph, whatever sequence a free plan names: (1 + 1e16) + 1, not 2 +
// 1e16.
TEST(SimulateByHand, free_order_sums_cycles_in_fixed_order) {
  std::vector<Node> nodes = {derived_node(Op::relu, 8, 8, {}), derived_node(Op::relu, 8, 8, {0}),
                             derived_node(Op::relu, 8, 8, {0})};
  nodes[0].flops = nodes[2].flops = 1;
  nodes[1].flops = 1e16;
  Hardware free_traffic = {.fast_mem_capacity = 40000, .max_fusion_depth = 4};
  const auto result = simulate(Graph(nodes), free_traffic, {{{0, 2, 1}, 32, {}}},
                               {.rules = Rules::physical, .order = walk::Order::free});
  ASSERT_TRUE(result.legal()) << result.fault->message;
  EXPECT_EQ(result.latency, 1e16);
  EXPECT_EQ(result.kernels[0].memory_cycles, 0);
}

TEST(SimulateByHand, free_order_is_for_physical_only) {
  EXPECT_THROW(simulate(five_nodes(), small_machine, {}, {.rules = Rules::seed, .order = walk::Order::free}),
               Error);
}

TEST(SimulateByHand, long_plans_and_deep_kernels) {
  std::vector<Node> nodes = {derived_node(Op::relu, 64, 64, {})};
  while (nodes.size() < 20000)
    nodes.push_back(derived_node(Op::relu, 64, 64, {static_cast<NodeId>(nodes.size()) - 1}));
  const Graph graph(std::move(nodes));
  Hardware deep = small_machine;
  deep.max_fusion_depth = 20000;
  for (int length : {1, 4, 20000}) {
    walk::Plan plan;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (id % length == 0) plan.push_back({.nodes = {}, .tile = 32, .retain = {}});
      plan.back().nodes.push_back(id);
    }
    for (Rules rules : {Rules::seed, Rules::seed_honest, Rules::physical})
      EXPECT_TRUE(simulate(graph, deep, plan, {.rules = rules}).legal());
  }
}

}  // namespace
}  // namespace fuselage::oracle

// What a ranker is told about one decision of the walk family: every feature by name on a graph whose figures
// are worked out by hand, and what must change nothing.
#include "fuselage/walk/decision_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/core/python_random.h"
#include "fuselage/walk/memory_bound.h"
#include "random_graphs.h"

namespace fuselage::walk {
namespace {

using Named = std::map<std::string, double>;

// Alone at tile 128 the five ops take 4080, 2048, 3072, 1280 and 2304 cycles, each with a launch of 1443.2:
// 4000 on average. Transfers: 1024 cycles for 16384 bytes, 9728 in all; compute at tile 128: 6480 in all.
Workload by_hand() {
  std::vector<Node> nodes = {{Op::matmul, 64, 64, {}, 4000, 16384},
                             {Op::relu, 64, 64, {0}, 400, 16384},
                             {Op::add, 64, 64, {0, 1}, 400, 16384},
                             {Op::layernorm, 32, 32, {2}, 1000, 4096},
                             {Op::add, 64, 64, {1, 3, 3}, 400, 16384}};
  return {"by_hand", Graph(std::move(nodes)), {65536, 16, 1443.2, 4}};
}

const double log_3 = std::log2(3.0);
const double log_5 = std::log2(5.0);

// Of a token, whatever its node.
const Named machine = {{"memory_share", 9728.0 / 16208.0},
                       {"launch_time", 0.3608},
                       {"depth", log_5},
                       {"room", std::log2(1 + 65536 / 13926.4)}};

Named joined(Named a, const Named& b) {
  for (const auto& [name, value] : b) a[name] += value;
  return a;
}

void put(Named& all, const std::string& prefix, const Named& some) {
  for (const auto& [name, value] : some) all[prefix + "." + name] = value;
}

// Everything that isn't named is zero.
void expect_row(std::span<const float> row, Named expected, const std::string& what) {
  ASSERT_EQ(row.size(), decision_schema().size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string& name = decision_schema().features()[i].name;
    EXPECT_FLOAT_EQ(row[i], static_cast<float>(expected[name])) << what << ": " << name;
    expected.erase(name);
  }
  for (const auto& [name, value] : expected) ADD_FAILURE() << what << ": no feature " << name;
}

// A workload with what is made of it.
struct Set {
  explicit Set(Workload w)
      : workload(std::move(w)),
        runs(workload.graph, workload.hardware),
        problem(workload.graph, workload.hardware, runs, {}),
        features(workload.graph, workload.hardware, runs) {}
  std::vector<float> rows(const State& state, std::span<const Kernel> kernels) const {
    DecisionRows maker(features);
    std::vector<float> rows(DecisionRows::width() * kernels.size());
    maker.fill(problem, state, kernels, rows);
    return rows;
  }
  Workload workload;
  RunTable runs;
  WalkProblem problem;
  Features features;
};

State state_at(int position, IdList resident) {
  State state;
  state.position = position;
  state.resident = std::move(resident);
  return state;
}

const Named before_relu = {
    {"done", .2},     {"left", log_5},         {"live_size", .25},        {"flops_left", 2200.0 / 6200},
    {"next_relu", 1}, {"next_flops_time", .1}, {"next_output_size", .25}, {"next_input_size", .25}};
const Named before_layernorm = {{"done", .6},
                                {"left", log_3},
                                {"residents", log_3},
                                {"resident_size", .5},
                                {"resident_time", .512},
                                {"resident_uses", log_3},
                                {"live_size", .5},
                                {"flops_left", 1400.0 / 6200},
                                {"next_layernorm", 1},
                                {"next_flops_time", .25},
                                {"next_output_size", .0625},
                                {"next_input_size", .25},
                                {"next_resident_size", .25}};

TEST(DecisionFeatures, a_kernel_that_retains_by_name) {
  const Set set(by_hand());
  const State state = state_at(1, {});
  const Kernel kernel{.first = 1, .count = 2, .tile = 1, .retain = {1, 2}};
  const Named relu = {{"op_relu", 1},        {"tile_64", 1},         {"members", .25},
                      {"retained", 1},       {"fan_in", 1},          {"fan_out", log_3},
                      {"next_use", 1},       {"input_uses_left", 1}, {"last_use", 1. / 3},
                      {"reads_previous", 1}, {"output_size", .25},   {"loaded_size", .25},
                      {"slice_size", .5},    {"flops_time", .1},     {"tiled_time", .1},
                      {"load_time", .256},   {"output_time", .256}};
  // Its input 0 has been read by the relu; the edge of the last node to 1 is left.
  const Named add = {{"op_add", 1},          {"tile_64", 1},        {"fused", 1},
                     {"members", .5},        {"retained", 1},       {"fan_in", log_3},
                     {"fan_out", 1},         {"next_use", 1},       {"last_use", 1},
                     {"input_uses_left", 1}, {"reads_previous", 1}, {"output_size", .25},
                     {"inside_size", .25},   {"slice_size", .75},   {"flops_time", .1},
                     {"tiled_time", .1},     {"output_time", .256}};
  Named expected;
  put(expected, "state", before_relu);
  put(expected, "after", before_layernorm);
  put(expected, "first", joined(relu, machine));
  put(expected, "last", joined(add, machine));
  put(expected, "sum", joined(joined(relu, machine), joined(add, machine)));
  expect_row(set.rows(state, std::span(&kernel, 1)), expected, "relu and add");
}

TEST(DecisionFeatures, a_kernel_that_reads_residents_and_one_that_falls_back_by_name) {
  const Set set(by_hand());
  const State state = state_at(3, {1, 2});
  const Named layernorm = {
      {"op_layernorm", 1},    {"tile_32", 1},         {"members", .25},         {"fan_in", 1},
      {"fan_out", log_3},     {"next_use", 1},        {"last_use", 1},          {"reads_previous", 1},
      {"output_size", .0625}, {"resident_size", .25}, {"slice_size", .125},     {"held_size", .5},
      {"flops_time", .25},    {"tiled_time", .3},     {"last_read_time", .256}, {"output_time", .064}};
  const Named add = {
      {"op_add", 1},          {"tile_32", 1},        {"members", .5},          {"fused", 1},
      {"fan_in", 2},          {"reads_previous", 1}, {"output_size", .25},     {"resident_size", .25},
      {"inside_size", .0625}, {"slice_size", .1875}, {"held_size", .5},        {"flops_time", .1},
      {"tiled_time", .1},     {"tile_count", 2},     {"last_read_time", .256}, {"absorbed_time", .064},
      {"output_time", .256}};
  Named expected;
  put(expected, "state", before_layernorm);
  put(expected, "after", {{"done", 1}});
  put(expected, "first", joined(layernorm, machine));
  put(expected, "last", joined(add, machine));
  put(expected, "sum", joined(joined(layernorm, machine), joined(add, machine)));
  Kernel kernels[] = {{.first = 3, .count = 2, .tile = 0}, {.first = 3, .count = 2, .tile = 0}};
  kernels[1].fallback = true;
  const std::vector<float> rows = set.rows(state, kernels);
  const std::size_t width = DecisionRows::width();
  expect_row(std::span(rows).first(width), expected, "layernorm and add");
  expected["fallback"] = 1;
  expect_row(std::span(rows).subspan(width), expected, "the same, out of memory");
}

TEST(DecisionFeatures, names_are_those_of_its_parts) {
  std::vector<std::string> names;
  for (const char* prefix : {"state.", "after."})
    for (const Feature& f : state_schema().features()) names.push_back(prefix + f.name);
  for (const char* prefix : {"first.", "last.", "sum."})
    for (const Feature& f : token_schema().features()) names.push_back(prefix + f.name);
  names.emplace_back("fallback");
  std::vector<std::string> own;
  for (const Feature& f : decision_schema().features()) {
    own.push_back(f.name);
    EXPECT_FALSE(f.unit.empty()) << f.name;
    EXPECT_GT(f.meaning.size(), 5U) << f.name;
  }
  EXPECT_EQ(own, names);
  EXPECT_EQ(std::set<std::string>(own.begin(), own.end()).size(), own.size());
  EXPECT_EQ(DecisionRows::width(), own.size());
}

// Calls visit(state, kernels) along a walk that follows `dice`.
template <class Visit>
void walk_along(const WalkProblem& problem, Dice& dice, Visit visit) {
  State state = problem.initial();
  std::vector<Kernel> kernels;
  while (problem.progress(state) < problem.horizon()) {
    problem.kernels(state, kernels);
    if (kernels.empty()) return;
    visit(state, kernels);
    state =
        problem.apply(state, kernels[static_cast<std::size_t>(dice.below(static_cast<int>(kernels.size())))]);
  }
}

TEST(DecisionFeatures, a_row_is_made_of_what_walk_features_say_of_its_parts) {
  Dice dice(1);
  for (int i = 0; i < 30; ++i) {
    const Set set(random_workload(dice, {.nodes = 8}));
    const std::size_t s = state_schema().size(), t = token_schema().size();
    walk_along(set.problem, dice, [&](const State& state, const std::vector<Kernel>& kernels) {
      const std::vector<float> all = set.rows(state, kernels);
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        const std::span<const float> row(all.data() + k * DecisionRows::width(), DecisionRows::width());
        const State after = set.problem.apply(state, kernels[k]);
        std::vector<float> expected(2 * s);
        set.features.state({.position = state.position, .resident = state.resident},
                           std::span(expected).first(s));
        set.features.state({.position = after.position, .resident = after.resident},
                           std::span(expected).subspan(s));
        std::vector<float> tokens;
        append_tokens(set.features, state, kernels[k], tokens);
        ASSERT_EQ(tokens.size(), t * static_cast<std::size_t>(kernels[k].count));
        expected.insert(expected.end(), tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(t));
        expected.insert(expected.end(), tokens.end() - static_cast<std::ptrdiff_t>(t), tokens.end());
        for (std::size_t f = 0; f < t; ++f) {
          float sum = 0;
          for (std::size_t at = f; at < tokens.size(); at += t) sum += tokens[at];
          expected.push_back(sum);
        }
        expected.push_back(kernels[k].fallback ? 1.0F : 0.0F);
        ASSERT_TRUE(std::equal(row.begin(), row.end(), expected.begin(), expected.end())) << i << ' ' << k;
        for (float x : row) ASSERT_TRUE(std::isfinite(x));
        ASSERT_EQ(set.rows(state, std::span(&kernels[k], 1)), std::vector<float>(row.begin(), row.end()));
      }
    });
  }
}

// In a chain the order has no choice, so that any numbering of the nodes is visited alike.
TEST(DecisionFeatures, numbering_the_nodes_anew_changes_nothing) {
  Dice dice(2);
  for (int i = 0; i < 10; ++i) {
    PythonRandom random(i);
    const Set set(generate_memory_bound({.num_ops = 11 + i % 4}, random));
    const Workload& w = set.workload;
    const int n = w.graph.size();
    ASSERT_NE(n % 5, 0);  // else no permutation
    const auto renamed = [n](NodeId x) { return static_cast<NodeId>((x * 5 + 3) % n); };
    std::vector<Node> nodes(static_cast<std::size_t>(n));
    for (NodeId x = 0; x < n; ++x) {
      Node node = w.graph.node(x);
      for (NodeId& input : node.inputs) input = renamed(input);
      nodes[static_cast<std::size_t>(renamed(x))] = node;
    }
    const Set other({w.name, Graph(std::move(nodes)), w.hardware});
    ASSERT_NE(other.workload.graph.order()[1], w.graph.order()[1]);
    const auto rename = [&](IdList& ids) {
      for (NodeId& x : ids) x = renamed(x);
      std::sort(ids.begin(), ids.end());
    };
    walk_along(set.problem, dice, [&](State state, std::vector<Kernel> kernels) {
      const std::vector<float> rows = set.rows(state, kernels);
      rename(state.resident);
      for (Kernel& kernel : kernels) rename(kernel.retain);
      EXPECT_EQ(other.rows(state, kernels), rows) << i;
    });
  }
}

TEST(DecisionFeatures, are_made_without_asking_for_a_price) {
  for (const char* file : {"include/fuselage/walk/decision_features.h", "src/walk/decision_features.cpp"}) {
    std::ifstream in(std::filesystem::path(FUSELAGE_SOURCE_DIR) / file);
    ASSERT_TRUE(in) << file;
    for (std::string line; std::getline(in, line);)
      for (const char* what : {"price(", "bound(", "charges(", "price.h", "oracle/", "baseline.h"})
        EXPECT_EQ(line.find(what), std::string::npos) << file << ": " << line;
  }
}

}  // namespace
}  // namespace fuselage::walk

// A law of every proven answer, of grid problems: a larger capacity, bandwidth or space never ends worse.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "fuselage/oracle/grid_solve.h"
#include "grid_random.h"

namespace fuselage::oracle {
namespace {

struct Question {
  grid::Instance instance;
  GridSolveOptions options;
};
struct Relaxation {
  std::string name;
  std::function<void(Question&)> relax;
};

grid::Instance on(const grid::Instance& instance, grid::Machine machine) {
  std::vector<grid::Tensor> tensors;
  for (grid::TensorId t = 0; t < instance.tensor_count(); ++t) tensors.push_back(instance.tensor(t));
  std::vector<grid::Op> ops;
  for (grid::OpId op = 0; op < instance.op_count(); ++op) ops.push_back(instance.op(op));
  return grid::Instance(tensors, ops, machine);
}

const std::vector<Relaxation> relaxations = {
    {"capacity",
     [](Question& q) {
       grid::Machine machine = q.instance.machine();
       machine.capacity = machine.capacity * 4 / 3;
       q.instance = on(q.instance, machine);
     }},
    {"much capacity",
     [](Question& q) {
       grid::Machine machine = q.instance.machine();
       machine.capacity *= 5;
       q.instance = on(q.instance, machine);
     }},
    {"bandwidth",
     [](Question& q) {
       grid::Machine machine = q.instance.machine();
       machine.bandwidth *= 1.5;
       q.instance = on(q.instance, machine);
     }},
    {"much bandwidth",
     [](Question& q) {
       grid::Machine machine = q.instance.machine();
       machine.bandwidth *= 8;
       q.instance = on(q.instance, machine);
     }},
    {"co-consumers", [](Question& q) { q.options.rules.co_consumers = true; }},
    {"ops", [](Question& q) { ++q.options.space.most_ops; }},
    {"retained", [](Question& q) { ++q.options.space.most_retained; }},
    {"starts", [](Question& q) { ++q.options.space.starts; }},
};

TEST(GridRelaxation, never_worsens_a_proven_answer) {
  std::mt19937 random(31);
  int compared = 0;
  for (int i = 0; i < 150; ++i) {
    grid::RandomOptions drawn;
    drawn.ops = 3 + i % 5;
    drawn.capacity = 600 + static_cast<std::int64_t>(random() % 3000);
    drawn.bandwidth = i % 3 == 0 ? 0.5 : 5;
    Question before{grid::random_instance(random, drawn), {}};
    GridSolveOptions& options = before.options;
    options.engine = i % 4 == 0 ? Engine::automatic : Engine::exact;
    options.budget.steps = 20'000;
    options.patience = 50;
    options.space.most_ops = 1 + static_cast<int>(random() % 5);
    options.space.most_retained = static_cast<int>(random() % 2);
    options.space.starts = 1 + static_cast<int>(random() % 3);
    const GridSolution proven = solve_grid(before.instance, options);
    if (proven.proof == search::Proof::none) continue;
    for (const Relaxation& relaxation : relaxations) {
      Question after = before;
      relaxation.relax(after);
      const GridSolution relaxed = solve_grid(after.instance, after.options);
      if (relaxed.proof == search::Proof::none) continue;
      EXPECT_LE(relaxed.latency, proven.latency * (1 + 1e-9)) << i << ' ' << relaxation.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 600);
}

}  // namespace
}  // namespace fuselage::oracle

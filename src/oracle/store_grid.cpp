#include "fuselage/oracle/store_grid.h"

#include <array>
#include <vector>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"
#include "fuselage/grid/problem_json.h"
#include "fuselage/grid/shapes.h"
#include "store_record.h"

namespace fuselage::oracle {
namespace {

constexpr std::array<std::string_view, 2> plan_fields = {"problem", "solution"};

std::string plan_text(const grid::Instance& instance, const grid::Plan& plan,
                      std::span<const double> latencies) {
  return fmt::format("{{\n\"problem\": {},\n\"solution\": {}}}\n", grid::problem_to_json(instance),
                     grid::plan_to_json(plan, latencies));
}

void check_latencies(const Record& record, const GridRecordPlan& plan, const std::string& where) {
  const grid::Evaluation& judged = plan.evaluation;
  if (!judged.valid())
    fail("{}: plan: is illegal, {}: {}; expected a plan that runs", where,
         fault_name(judged.violation->fault), judged.violation->message);
  if (!agree(record.latency, judged.latency))
    fail("{}: latency: {} is claimed; expected {}, which the plan takes", where, json_number(record.latency),
         json_number(judged.latency));
  for (std::size_t i = 0; i < plan.file.latencies.size(); ++i)
    if (!agree(plan.file.latencies[i], judged.kernels[i].latency))
      fail("{}: plan.solution.subgraph_latencies[{}]: {} is claimed; expected {}, which the kernel takes",
           where, i, json_number(plan.file.latencies[i]), json_number(judged.kernels[i].latency));
}

}  // namespace

std::string store_key(const grid::Instance& instance, const grid::Rules& rules) {
  const grid::Machine& machine = instance.machine();
  std::string text = fmt::format("fuselage best 1\nfamily grid\nrules {}\nmachine {} {} {} {}\ntensors {}\n",
                                 grid::rules_text(rules), machine.capacity, bits(machine.bandwidth),
                                 machine.native_width, machine.native_height, instance.tensor_count());
  for (const grid::Tensor& tensor : instance.tensors())
    text += fmt::format("{} {}\n", tensor.width, tensor.height);
  for (const grid::Op& op : instance.ops())
    text += fmt::format("{} [{}] [{}] {}\n", op.kind == grid::OpKind::matmul ? "matmul" : "pointwise",
                        fmt::join(op.inputs, ","), fmt::join(op.outputs, ","), bits(op.base_cost));
  return sha256_hex(text);
}

Record make_record(const grid::Instance& instance, const GridClaim& claim, const Origin& origin) {
  Record record{.key = store_key(instance, claim.rules), .family = "grid"};
  record.name = claim.name;
  record.grid_rules = claim.rules;
  record.ops = instance.op_count();
  record.cost = record.latency = claim.evaluation.latency;
  record.lower_bound = claim.lower_bound;
  record.proof = claim.proof;
  record.engine = origin.engine;
  record.budget = origin.budget;
  record.version = origin.version;
  record.time = origin.time;
  std::vector<double> latencies;
  for (const grid::KernelReport& kernel : claim.evaluation.kernels) latencies.push_back(kernel.latency);
  record.plan = plan_text(instance, claim.plan, latencies);
  return record;
}

std::string read_grid_plan_text(const JsonField& field) {
  field.only(plan_fields);
  const grid::PlanFile file = grid::read_plan(field.required("solution"));
  return plan_text(grid::read_problem(field.required("problem")), file.plan, file.latencies);
}

GridRecordPlan checked_grid_plan(const Record& record, const std::string& where) {
  check_form(record, where);
  if (!record.is_grid())
    fail("{}: family: {} is no grid record; expected \"grid\"", where, quote(record.family));
  if (record.price != walk::Price{}) fail("{}: price: a grid problem has none; expected weights of 0", where);
  const std::string source = where + ": plan";
  const Json json = parse_json(record.plan, source, {.object_only = true});
  const JsonField root(json, source);
  root.only(plan_fields);
  const JsonField problem = root.required("problem");
  GridRecordPlan plan{.instance = grid::read_problem(problem),
                      .file = grid::read_plan(root.required("solution")),
                      .evaluation = {}};
  if (record.ops != plan.instance.op_count())
    fail("{}: ops: {} is claimed; expected {}, as its problem has it", where, record.ops,
         plan.instance.op_count());
  const std::string key = store_key(plan.instance, record.grid_rules);
  if (record.key != key)
    fail("{}: key: {} is claimed; expected {}, as problem and rules have it", where, record.key, key);
  grid::check_shapes(plan.instance, record.grid_rules, where + ": plan.problem");
  plan.evaluation = grid::evaluate(plan.instance, record.grid_rules, plan.file.plan);
  check_latencies(record, plan, where);
  check_cost(record, where);
  return plan;
}

}  // namespace fuselage::oracle

#include <array>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/baseline.h"
#include "replay_kinds.h"
#include "replay_proof.h"

namespace fuselage::oracle {
namespace {

using walk::Order;
using walk::Rules;

constexpr std::array<std::string_view, 8> row_fields = {"feasible", "graph",   "greedy_latency", "infeasible",
                                                        "name",     "optimum", "order",          "plan"};
constexpr std::array<std::string_view, 3> infeasible_fields = {"capacity", "node", "smallest_working_set"};
constexpr std::array<std::string_view, 7> kernel_fields = {"nodes", "tile",        "retain", "latency",
                                                           "loads", "working_set", "writes"};
// `based_on` names the legal plan that was spoilt.
constexpr std::array<std::string_view, 7> illegal_fields = {"based_on", "code",  "graph", "kernel",
                                                            "name",     "order", "plan"};
constexpr std::array<std::string_view, 3> illegal_kernel_fields = {"nodes", "tile", "retain"};

Order read_order(const JsonField& field) {
  const auto order = walk::parse_order(field.string());
  if (!order) field.refuse("is no order", "\"fixed\" or \"free\"");
  return *order;
}

void check_plan(const Workload& workload, Order order, const JsonField& plan, const JsonField& optimum,
                RowCheck& check) {
  const Simulation priced = simulate(workload.graph, workload.hardware, read_recorded_plan(plan),
                                     {.rules = Rules::physical, .order = order});
  const std::size_t kernels = plan.array_size();
  for (std::size_t i = 0; i < kernels; ++i) {
    const JsonField recorded = plan.element(i);
    recorded.only(kernel_fields);
    // After a fault there is no price; the row must be well-formed even so.
    const KernelReport report = i < priced.kernels.size() ? priced.kernels[i] : KernelReport{};
    if (priced.fault && i >= priced.kernels.size())
      check.differs(plan, "expected a legal plan, got " + priced.fault->message);
    check.number(recorded.required("latency"), report.latency);
    check.ids_in_any_order(recorded.required("loads"), report.loads);
    check.ids_in_any_order(recorded.required("writes"), report.writes);
    check.integer(recorded.required("working_set"), report.working_set);
  }
  if (priced.fault) return check.differs(plan, "expected a legal plan, got " + priced.fault->message);
  check.optimum(optimum, priced.latency);
}

std::string described(const walk::WalkProblem::Infeasible& reason) {
  return fmt::format("no schedule (node {} needs {} B of {} B)", reason.node, reason.smallest_working_set,
                     reason.capacity);
}

void check_feasible(const Workload& workload, Order order, const JsonField& row, RowCheck& check) {
  const JsonField optimum = row.required("optimum");
  const double wanted = optimum.number(0);
  if (const auto reason = row.optional("infeasible"))
    reason->refuse("is there, but feasible is true; expected one of them");
  const Answer ours = prove(workload, {.rules = Rules::physical, .order = order}, optimum, check);
  if (ours.infeasible)
    check.differs(optimum,
                  fmt::format("expected {}, got {}", exact_text(wanted), described(*ours.infeasible)));
  check.expect(ours.infeasible || ours.proven, optimum,
               fmt::format("expected {}, got no plan", exact_text(wanted)));
  if (ours.proven) check.optimum(optimum, ours.proven->cost);
  check_plan(workload, order, row.required("plan"), optimum, check);
}

void check_infeasible(const Workload& workload, Order order, const JsonField& row, RowCheck& check) {
  const JsonField optimum = row.required("optimum");
  const JsonField plan = row.required("plan");
  const JsonField recorded = row.required("infeasible");
  if (!optimum.is_null()) optimum.refuse("is there, but feasible is false; expected null");
  if (!plan.is_null()) plan.refuse("is there, but feasible is false; expected null");
  recorded.only(infeasible_fields);
  const Answer ours = prove(workload, {.rules = Rules::physical, .order = order}, optimum, check);
  if (ours.proven)
    check.differs(optimum,
                  fmt::format("expected no schedule, got one of {} cycles", exact_text(ours.proven->cost)));
  const auto reason = ours.infeasible.value_or(walk::WalkProblem::Infeasible{});
  check.integer(recorded.required("node"), reason.node);
  check.integer(recorded.required("capacity"), reason.capacity);
  check.integer(recorded.required("smallest_working_set"), reason.smallest_working_set);
}

}  // namespace

void replay_physical(const JsonField& row, RowCheck& check) {
  row.only(row_fields);
  const Workload workload = read_graph(row.required("graph"), row.required("name").string());
  const Order order = read_order(row.required("order"));
  const auto greedy =
      walk::greedy_physical(workload.graph, workload.hardware, {workload.graph, workload.hardware});
  check.number_or_null(row.required("greedy_latency"),
                       greedy ? std::optional(greedy->latency) : std::nullopt);
  if (row.required("feasible").boolean())
    check_feasible(workload, order, row, check);
  else
    check_infeasible(workload, order, row, check);
}

void replay_physical_illegal(const JsonField& row, RowCheck& check) {
  row.only(illegal_fields);
  const Workload workload = read_graph(row.required("graph"), row.required("name").string());
  const Order order = read_order(row.required("order"));
  const JsonField plan = row.required("plan");
  for (std::size_t i = 0, count = plan.array_size(); i < count; ++i)
    plan.element(i).only(illegal_kernel_fields);
  const JsonField code = row.required("code");
  const JsonField kernel = row.required("kernel");
  const Simulation priced = simulate(workload.graph, workload.hardware, read_recorded_plan(plan),
                                     {.rules = Rules::physical, .order = order});
  check.text_or_null(code, priced.fault ? std::optional(name(priced.fault->code)) : std::nullopt);
  const auto at = priced.fault ? priced.fault->kernel : std::nullopt;
  check.integer_or_null(kernel, at ? std::optional<std::int64_t>(*at) : std::nullopt);
}

}  // namespace fuselage::oracle

#include "store_record.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/hash.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/objective.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/store_grid.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t max_text_bytes = 200;

void check_text(std::string_view field, std::string_view text, const std::string& where) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.size() > max_text_bytes || !std::all_of(text.begin(), text.end(), printable))
    fail("{}: {}: {} is no such text; expected at most {} printable ASCII characters", where, field,
         quote(text), max_text_bytes);
}

void check_time(const std::string& time, const std::string& where) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  const auto fits = [](char c, char f) { return f == '0' ? c >= '0' && c <= '9' : c == f; };
  if (!std::equal(time.begin(), time.end(), form.begin(), form.end(), fits))
    fail("{}: time: {} is no time; expected UTC as \"2031-01-31T23:59:59Z\"", where, quote(time));
}

void check_number(std::string_view field, double value, const std::string& where) {
  if (!std::isfinite(value) || value < 0)
    fail("{}: {}: {} is out of range; expected a finite number >= 0", where, field, value);
}

// A field that the plan says too.
template <class Value>
void check_same(std::string_view field, const Value& claimed, const Value& found, const std::string& where) {
  if (claimed != found)
    fail("{}: {}: {} is claimed; expected {}, as its plan has it", where, field, claimed, found);
}

void check_latency(const Record& record, const walk::PlanFile& plan, const std::string& where) {
  const Simulation simulation = simulate(plan.workload.graph, plan.workload.hardware, plan.kernels,
                                         {.rules = plan.rules, .order = plan.order});
  if (const auto& fault = simulation.fault)
    fail("{}: plan: is illegal, {}: {}; expected a plan that runs", where, name(fault->code), fault->message);
  for (const auto& [field, claimed] : {std::pair("latency", record.latency), {"plan.latency", plan.latency}})
    if (!agree(claimed, simulation.latency))
      fail("{}: {}: {} cycles are claimed; expected {}, which the plan takes", where, field,
           json_number(claimed), json_number(simulation.latency));
}

search::Proof proof_of(const walk::PlanFile& plan) {
  for (std::size_t i = 0; i < walk::proof_names.size(); ++i)
    if (plan.proof == walk::proof_names[i]) return static_cast<search::Proof>(i);
  fail("{}: proof: {} is no proof; expected one of {}", plan.workload.name, quote(plan.proof),
       join_names(walk::proof_names));
}

}  // namespace

std::string bits(double value) {
  return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value + 0.0));
}

void check_form(const Record& record, const std::string& where) {
  if (record.family != "walk" && !record.is_grid())
    fail("{}: family: {} is no family of this version; expected \"walk\" or \"grid\"", where,
         quote(record.family));
  check_number("price.traffic", record.price.traffic, where);
  check_number("price.launch", record.price.launch, where);
  check_number("price.residency", record.price.residency, where);
  check_number("cost", record.cost, where);
  check_number("latency", record.latency, where);
  check_number("lower_bound", record.lower_bound, where);
  check_text("engine", record.engine, where);
  check_text("budget", record.budget, where);
  check_text("version", record.version, where);
  check_time(record.time, where);
}

void check_cost(const Record& record, const std::string& where) {
  const bool plain = record.price == walk::Price{};
  if (plain && !agree(record.cost, record.latency))
    fail("{}: cost: {} is claimed; expected the latency, {}, since no price is set", where,
         json_number(record.cost), json_number(record.latency));
  if (record.cost < record.latency && !agree(record.cost, record.latency))
    fail("{}: cost: {} is claimed; expected at least the latency, {}", where, json_number(record.cost),
         json_number(record.latency));
  if (record.lower_bound > record.cost && !agree(record.lower_bound, record.cost))
    fail("{}: lower_bound: {} is claimed; expected at most the cost, {}, which a plan has", where,
         json_number(record.lower_bound), json_number(record.cost));
  if (record.proof == search::Proof::optimal && !agree(record.lower_bound, record.cost))
    fail("{}: proof: \"optimal\" is claimed; expected a lower_bound equal to the cost, {}, with it, not {}",
         where, json_number(record.cost), json_number(record.lower_bound));
}

bool is_cost_confirmed(const Record& record) {
  if (record.price == walk::Price{}) return true;  // the latency, which check_record has confirmed
  const walk::PlanFile plan = walk::read_plan(record.plan, record.name);
  const Graph& graph = plan.workload.graph;
  const Simulation simulation =
      simulate(graph, plan.workload.hardware, plan.kernels, {.rules = plan.rules, .order = plan.order});
  return agree(record.cost, objective(charges(graph, simulation), record.price));
}

std::string store_key(const Workload& workload, walk::Rules rules, walk::Order order,
                      const walk::Price& price) {
  const Hardware& hardware = workload.hardware;
  std::string text =
      fmt::format("fuselage best 1\nfamily walk\nrules {}\norder {}\nprice {} {} {}\n", name(rules),
                  name(order), bits(price.traffic), bits(price.launch), bits(price.residency));
  text += fmt::format("hardware {} {} {} {}\nnodes {}\n", hardware.fast_mem_capacity,
                      bits(hardware.slow_mem_bandwidth), bits(hardware.kernel_launch_cost),
                      hardware.max_fusion_depth, workload.graph.size());
  for (const Node& node : workload.graph.nodes())
    text += fmt::format("{} {} {} [{}] {} {}\n", name(node.op), node.height, node.width,
                        fmt::join(node.inputs, ","), bits(node.flops), node.output_bytes);
  return sha256_hex(text);
}

Record make_record(const walk::PlanFile& plan, const Origin& origin) {
  return make_record(
      plan, origin,
      {.cost = plan.latency, .lower_bound = plan.lower_bound.value_or(0), .proof = proof_of(plan)});
}

Record make_record(const walk::PlanFile& plan, const Origin& origin, const Objective& objective) {
  Record record{.key = store_key(plan.workload, plan.rules, plan.order, objective.price)};
  record.name = plan.workload.name;
  record.rules = plan.rules;
  record.order = plan.order;
  record.price = objective.price;
  record.ops = plan.workload.graph.size();
  record.cost = objective.cost;
  record.latency = plan.latency;
  record.lower_bound = objective.lower_bound;
  record.proof = objective.proof;
  record.engine = origin.engine;
  record.budget = origin.budget;
  record.version = origin.version;
  record.time = origin.time;
  record.plan = walk::plan_to_json(plan);
  return record;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string rules_text(const Record& record) {
  return record.is_grid() ? grid::rules_text(record.grid_rules) : std::string(name(record.rules));
}

void check_record(const Record& record, const std::string& where) {
  if (record.is_grid())
    checked_grid_plan(record, where);
  else
    checked_plan(record, where);
}

walk::PlanFile checked_plan(const Record& record, const std::string& where) {
  check_form(record, where);
  if (record.is_grid()) fail("{}: family: \"grid\" is not that of a graph; expected \"walk\"", where);
  walk::PlanFile plan = walk::read_plan(record.plan, where + ": plan");
  check_same("name", record.name, plan.workload.name, where);
  check_same("rules", name(record.rules), name(plan.rules), where);
  check_same("order", name(record.order), name(plan.order), where);
  check_same("ops", record.ops, plan.workload.graph.size(), where);
  check_same("key", record.key, store_key(plan.workload, plan.rules, plan.order, record.price), where);
  check_latency(record, plan, where);
  check_cost(record, where);
  return plan;
}

}  // namespace fuselage::oracle

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/graph/graph_json.h"
#include "store_record.h"

namespace fuselage::oracle {
namespace {

using nlohmann::ordered_json;

constexpr int format_version = 1;

constexpr std::array<std::string_view, 17> record_fields = {
    "fuselage_best", "key",         "family", "name",   "rules",  "order",   "price", "ops", "cost",
    "latency",       "lower_bound", "proof",  "engine", "budget", "version", "time",  "plan"};
constexpr std::array<std::string_view, 15> grid_record_fields = {
    "fuselage_best", "key",   "family", "name",   "rules",   "ops",  "cost", "latency",
    "lower_bound",   "proof", "engine", "budget", "version", "time", "plan"};
constexpr std::array<std::string_view, 3> price_fields = {"traffic", "launch", "residency"};

walk::Price read_price(const JsonField& at) {
  at.only(price_fields);
  return {.traffic = at.required("traffic").number(0),
          .launch = at.required("launch").number(0),
          .residency = at.required("residency").number(0)};
}

// The value that a name stands for.
template <class Value, std::size_t n>
Value read_choice(const JsonField& field, std::optional<Value> (*parse)(std::string_view),
                  const std::array<std::string_view, n>& names) {
  const std::optional<Value> value = parse(field.string());
  if (!value) field.refuse("is unknown", fmt::format("one of {}", join_names(names)));
  return *value;
}

std::string read_family(const JsonField& field) {
  const std::string& family = field.string();
  if (family != "walk" && family != "grid")
    field.refuse("is no family of this version", "\"walk\" or \"grid\"");
  return family;
}

grid::Rules read_grid_rules(const JsonField& field) {
  const auto rules = grid::parse_rules_text(field.string());
  if (!rules)
    field.refuse("is unknown",
                 "fusionops, fusionops-honest, or as \"mlsys, compute k\" and \"mlsys, compute native-k, "
                 "co-consumers\"");
  return *rules;
}

// As plan_to_json writes it, whatever the order of its fields here.
std::string read_plan_text(const JsonField& field, const std::string& where) {
  return walk::plan_to_json(walk::read_plan(field.value().dump(), where + ": plan"));
}

}  // namespace

std::string name_of(const Line& line, const std::string& source) {
  return fmt::format("{}:{}", source, line.number);
}

std::optional<search::Proof> parse_proof(std::string_view text) {
  using search::Proof;
  for (const Proof proof : {Proof::none, Proof::optimal_in_declared_space, Proof::optimal})
    if (text == search::name(proof)) return proof;
  return std::nullopt;
}

Record read_record(const Line& line, const std::string& source) {
  const Json json = parse_json(line.text, source, {.object_only = true, .first_line = line.number});
  const std::string where = name_of(line, source);
  const JsonField root(json, where);
  root.required("fuselage_best").integer(format_version, format_version);
  Record record{.key = root.required("key").string(), .family = read_family(root.required("family"))};
  record.name = read_name(root.required("name"));
  if (record.is_grid()) {
    root.only(grid_record_fields);
    record.grid_rules = read_grid_rules(root.required("rules"));
  } else {
    root.only(record_fields);
    record.rules = read_choice(root.required("rules"), walk::parse_rules, walk::rules_names);
    record.order = read_choice(root.required("order"), walk::parse_order, walk::order_names);
    record.price = read_price(root.required("price"));
  }
  record.ops = static_cast<int>(root.required("ops").integer(1, std::numeric_limits<int>::max()));
  record.cost = root.required("cost").number(0);
  record.latency = root.required("latency").number(0);
  record.lower_bound = root.required("lower_bound").number(0);
  record.proof = read_choice(root.required("proof"), parse_proof, walk::proof_names);
  record.engine = root.required("engine").string();
  record.budget = root.required("budget").string();
  record.version = root.required("version").string();
  record.time = root.required("time").string();
  const JsonField plan = root.required("plan");
  record.plan = record.is_grid() ? read_grid_plan_text(plan) : read_plan_text(plan, where);
  return record;
}

ordered_json record_to_json(const Record& record) {
  const walk::Price& price = record.price;
  ordered_json json = {{"fuselage_best", format_version},
                       {"key", record.key},
                       {"family", record.family},
                       {"name", record.name},
                       {"rules", rules_text(record)}};
  if (!record.is_grid()) {
    json["order"] = name(record.order);
    json["price"] = {{"traffic", price.traffic}, {"launch", price.launch}, {"residency", price.residency}};
  }
  json["ops"] = record.ops;
  json["cost"] = record.cost;
  json["latency"] = record.latency;
  json["lower_bound"] = record.lower_bound;
  json["proof"] = search::name(record.proof);
  json["engine"] = record.engine;
  json["budget"] = record.budget;
  json["version"] = record.version;
  json["time"] = record.time;
  if (!record.plan.empty()) json["plan"] = ordered_json::parse(record.plan);
  return json;
}

std::string record_to_line(const Record& record) {
  return record_to_json(record).dump() + '\n';
}

}  // namespace fuselage::oracle

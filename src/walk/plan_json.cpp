#include "fuselage/walk/plan_json.h"

#include <algorithm>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"
#include "fuselage/walk/answer.h"

namespace fuselage::walk {
namespace {

constexpr int format_version = 1;

constexpr std::array<std::string_view, 13> plan_fields = {
    "fuselage_plan", "family",         "rules",         "order",       "name",  "graph",  "kernels",
    "latency",       "greedy_latency", "naive_latency", "lower_bound", "proof", "actions"};
constexpr std::array<std::string_view, 3> kernel_fields = {"nodes", "tile", "retain"};
constexpr std::array<std::string_view, 3> action_fields = {"fuse_with_prev", "tile", "retain"};

int read_int(const JsonField& field) {
  return static_cast<int>(field.integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

std::vector<NodeId> read_ids(const JsonField& field) {
  std::vector<NodeId> ids(field.array_size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = read_int(field.element(i));
  return ids;
}

PlanKernel read_kernel(const JsonField& at) {
  at.only(kernel_fields);
  PlanKernel kernel{.nodes = read_ids(at.required("nodes")),
                    .tile = read_int(at.required("tile")),
                    .retain = read_ids(at.required("retain"))};
  if (kernel.nodes.empty()) at.required("nodes").refuse("is an empty kernel", "at least one node id");
  return kernel;
}

Action read_action(const JsonField& at) {
  at.only(action_fields);
  return {.fuse_with_prev = at.required("fuse_with_prev").boolean(),
          .tile = read_int(at.required("tile")),
          .retain = read_ids(at.required("retain"))};
}

template <class Item>
std::vector<Item> read_list(const JsonField& field, Item (*read)(const JsonField&)) {
  std::vector<Item> items;
  items.reserve(field.array_size());
  for (std::size_t i = 0; i < field.array_size(); ++i) items.push_back(read(field.element(i)));
  return items;
}

std::optional<double> read_number_or_null(const JsonField& field) {
  if (field.is_null()) return std::nullopt;
  return field.number(0);
}

void check_format(const JsonField& root) {
  root.required("fuselage_plan").integer(format_version, format_version);
  const JsonField family = root.required("family");
  if (family.string() != "walk") family.refuse("is no family of this version", "\"walk\"");
}

Rules read_rules(const JsonField& field) {
  const std::optional<Rules> rules = parse_rules(field.string());
  if (!rules) field.refuse("is no rule set", fmt::format("one of {}", join_names(rules_names)));
  return *rules;
}

Order read_order(const JsonField& field, Rules rules) {
  const std::optional<Order> order = parse_order(field.string());
  if (!order) field.refuse("is no order", fmt::format("one of {}", join_names(order_names)));
  if (*order == Order::free && rules != Rules::physical)
    field.refuse(fmt::format("order does not exist under the rules {}", name(rules)), "\"fixed\"");
  return *order;
}

std::string read_proof(const JsonField& field) {
  const std::string& proof = field.string();
  if (std::find(proof_names.begin(), proof_names.end(), proof) == proof_names.end())
    field.refuse("is no proof", fmt::format("one of {}", join_names(proof_names)));
  return proof;
}

std::vector<Action> read_actions(const JsonField& root, const PlanFile& plan) {
  const std::optional<JsonField> field = root.optional("actions");
  if (!field) return {};
  if (plan.rules == Rules::physical)
    field->refuse("can't be played under the rules physical", "no such field");
  std::vector<Action> actions = read_list(*field, read_action);
  if (static_cast<int>(actions.size()) != plan.workload.graph.size())
    field->refuse("does not play the graph",
                  fmt::format("{} actions, one per node", plan.workload.graph.size()));
  return actions;
}

std::string ids_to_json(const std::vector<NodeId>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ", "));
}

std::string kernel_to_json(const PlanKernel& kernel) {
  return fmt::format(R"({{"nodes": {}, "tile": {}, "retain": {}}})", ids_to_json(kernel.nodes), kernel.tile,
                     ids_to_json(kernel.retain));
}

template <class Item>
std::string list_to_json(const std::vector<Item>& items, std::string (*write)(const Item&)) {
  std::string text = "[";
  for (const Item& item : items) text += (text.size() > 1 ? ",\n    " : "\n    ") + write(item);
  return text + (items.empty() ? "]" : "\n  ]");
}

std::string number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : "null";
}

}  // namespace

PlanFile read_plan(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  const JsonField root(json, source);
  check_format(root);
  root.only(plan_fields);
  PlanFile plan{.workload = read_graph(root.required("graph"), read_name(root.required("name")))};
  plan.rules = read_rules(root.required("rules"));
  plan.order = read_order(root.required("order"), plan.rules);
  plan.kernels = read_list(root.required("kernels"), read_kernel);
  plan.latency = root.required("latency").number(0);
  plan.greedy_latency = read_number_or_null(root.required("greedy_latency"));
  plan.naive_latency = read_number_or_null(root.required("naive_latency"));
  plan.lower_bound = read_number_or_null(root.required("lower_bound"));
  plan.proof = read_proof(root.required("proof"));
  plan.actions = read_actions(root, plan);
  return plan;
}

std::string plan_to_json(const PlanFile& plan) {
  std::string text = fmt::format("{{\n  \"fuselage_plan\": {},\n  \"family\": \"walk\",\n", format_version);
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("  \"{}\": {},\n", key, value);
  };
  add("rules", json_string(name(plan.rules)));
  add("order", json_string(name(plan.order)));
  add("name", json_string(plan.workload.name));
  add("graph", graph_to_json(plan.workload, "  "));
  add("kernels", list_to_json(plan.kernels, kernel_to_json));
  add("latency", json_number(plan.latency));
  add("greedy_latency", number_or_null(plan.greedy_latency));
  add("naive_latency", number_or_null(plan.naive_latency));
  add("lower_bound", number_or_null(plan.lower_bound));
  add("proof", json_string(plan.proof));
  if (!plan.actions.empty()) add("actions", list_to_json(plan.actions, answer_text));
  text.erase(text.size() - 2);  // the last comma
  return text + "\n}\n";
}

}  // namespace fuselage::walk

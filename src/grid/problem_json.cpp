#include "fuselage/grid/problem_json.h"

#include <array>
#include <cmath>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"

namespace fuselage::grid {
namespace {

constexpr std::array<std::string_view, 9> problem_fields = {"widths",
                                                            "heights",
                                                            "inputs",
                                                            "outputs",
                                                            "base_costs",
                                                            "op_types",
                                                            "fast_memory_capacity",
                                                            "slow_memory_bandwidth",
                                                            "native_granularity"};
constexpr std::array<std::string_view, 2> op_types = {"Pointwise", "MatMul"};  // by OpKind
constexpr double max_exact_integer = 9007199254740992.0;                       // 2^53

std::size_t size_like(const JsonField& list, const JsonField& model) {
  const std::size_t expected = model.array_size();
  if (list.array_size() != expected)
    list.refuse(fmt::format("its length is {}; expected {}, the length of {}", list.array_size(), expected,
                            model.path()));
  return expected;
}

std::vector<Tensor> read_tensors(const JsonField& problem) {
  const JsonField widths = problem.required("widths");
  const JsonField heights = problem.required("heights");
  std::vector<Tensor> tensors(size_like(heights, widths));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    tensors[i] = {.width = widths.element(i).integer(1), .height = heights.element(i).integer(1)};
  return tensors;
}

std::vector<TensorId> read_ids(const JsonField& list, std::size_t tensors) {
  std::vector<TensorId> ids(list.array_size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const JsonField field = list.element(i);
    const std::int64_t id = field.integer(std::numeric_limits<std::int64_t>::min());
    if (id < 0 || static_cast<std::size_t>(id) >= tensors)
      field.refuse("names no tensor", tensors == 0 ? "at least one tensor in widths"
                                                   : fmt::format("ids from 0 to {}", tensors - 1));
    ids[i] = static_cast<TensorId>(id);  // JsonLimits::max_values fits
  }
  return ids;
}

OpKind read_kind(const JsonField& field) {
  for (std::size_t i = 0; i < op_types.size(); ++i)
    if (field.string() == op_types[i]) return static_cast<OpKind>(i);
  field.refuse("is no op type", fmt::format("one of {}", join_names(op_types)));
}

std::vector<Op> read_ops(const JsonField& problem, std::size_t tensors) {
  const JsonField inputs = problem.required("inputs");
  const JsonField outputs = problem.required("outputs");
  const JsonField costs = problem.required("base_costs");
  const JsonField types = problem.required("op_types");
  for (const JsonField* list : {&outputs, &costs, &types}) size_like(*list, inputs);
  std::vector<Op> ops(inputs.array_size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    ops[i] = {.kind = read_kind(types.element(i)),
              .inputs = read_ids(inputs.element(i), tensors),
              .outputs = read_ids(outputs.element(i), tensors),
              .base_cost = costs.element(i).number(0)};
  return ops;
}

Machine read_machine(const JsonField& problem) {
  const JsonField native = problem.required("native_granularity");
  if (native.array_size() != 2) native.refuse("is no granularity", "[width, height]");
  return {.capacity = problem.required("fast_memory_capacity").integer(1),
          .bandwidth = problem.required("slow_memory_bandwidth").number(),
          .native_width = native.element(0).integer(1),
          .native_height = native.element(1).integer(1)};
}

std::string number_to_json(double value) {
  if (std::abs(value) <= max_exact_integer && value == std::trunc(value))
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return json_number(value);
}

// "[a, b]", with `write` making text of each.
template <class Items, class Write>
std::string list_to_json(const Items& items, Write write) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ", ";
    text += write(item);
  }
  return text + "]";
}

std::string ids_to_json(const std::vector<TensorId>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ", "));
}

}  // namespace

Instance read_problem(const JsonField& problem) {
  problem.only(problem_fields);
  std::vector<Tensor> tensors = read_tensors(problem);
  std::vector<Op> ops = read_ops(problem, tensors.size());
  const std::string at = problem.path();
  return Instance(std::move(tensors), std::move(ops), read_machine(problem),
                  at.empty() ? problem.source() : fmt::format("{}: {}", problem.source(), at));
}

Instance read_problem(std::string_view text, const std::string& source) {
  const Json json = parse_json(text, source, {.object_only = true});
  return read_problem(JsonField(json, source));
}

Instance read_problem_file(const std::string& path) {
  return read_problem(read_file(path), source_name(path));
}

std::string problem_to_json(const Instance& instance) {
  const auto tensors = instance.tensors();
  const auto ops = instance.ops();
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format("{}  \"{}\": {}", text.empty() ? "{\n" : ",\n", key, value);
  };
  add("widths", list_to_json(tensors, [](const Tensor& t) { return fmt::format("{}", t.width); }));
  add("heights", list_to_json(tensors, [](const Tensor& t) { return fmt::format("{}", t.height); }));
  add("inputs", list_to_json(ops, [](const Op& op) { return ids_to_json(op.inputs); }));
  add("outputs", list_to_json(ops, [](const Op& op) { return ids_to_json(op.outputs); }));
  add("base_costs", list_to_json(ops, [](const Op& op) { return number_to_json(op.base_cost); }));
  add("op_types", list_to_json(ops, [](const Op& op) {
        return fmt::format("\"{}\"", op_types[static_cast<std::size_t>(op.kind)]);
      }));
  const Machine& machine = instance.machine();
  add("fast_memory_capacity", fmt::format("{}", machine.capacity));
  add("slow_memory_bandwidth", number_to_json(machine.bandwidth));
  add("native_granularity", fmt::format("[{}, {}]", machine.native_width, machine.native_height));
  return text + "\n}\n";
}

}  // namespace fuselage::grid

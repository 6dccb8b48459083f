#include "feature_columns.h"

#include <cmath>

namespace fuselage::walk {
namespace {

// On a machine where nothing costs anything there is nothing to compare with.
double over(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
double log_count(double count) {
  return std::log2(1 + count);
}
double size(const WorkloadFacts& w, std::int64_t bytes) {
  return over(static_cast<double>(bytes), w.capacity);
}
double transfer(const WorkloadFacts& w, std::int64_t bytes) {
  return over(static_cast<double>(bytes) * w.cycles_per_byte, w.mean_cycles);
}
double nearness(int positions) {
  return positions > 0 ? 1.0 / positions : 0;
}
double launch(const WorkloadFacts& w) {
  return over(w.launch_cycles, w.mean_cycles);
}
double room(const WorkloadFacts& w) {
  return log_count(over(w.capacity, w.mean_bytes));
}

template <Op op>
double is_op(const TokenFacts& t) {
  return t.node->op == op;
}
template <Op op>
double next_is(const StateFacts& s) {
  return s.next != nullptr && s.next->op == op;
}
template <int tile>
double is_tile(const TokenFacts& t) {
  return tiles[static_cast<std::size_t>(t.tile)] == tile;
}

using Token = const TokenFacts&;
using Between = const StateFacts&;
using Machine = const WorkloadFacts&;

constexpr const char* flag = "0 or 1";
constexpr const char* capacities = "capacities";  // bytes / fast_mem_capacity
constexpr const char* means = "mean op cycles";   // cycles / Features::mean_cycles
constexpr const char* logs = "log2(1 + n)";
constexpr const char* inverse = "1 / positions";

constexpr Column<TokenFacts> of_token[] = {
    {"op_matmul", flag, "the op is a matmul", is_op<Op::matmul>},
    {"op_conv2d", flag, "the op is a conv2d", is_op<Op::conv2d>},
    {"op_layernorm", flag, "the op is a layernorm", is_op<Op::layernorm>},
    {"op_softmax", flag, "the op is a softmax", is_op<Op::softmax>},
    {"op_reduce", flag, "the op is a reduce", is_op<Op::reduce>},
    {"op_relu", flag, "the op is a relu", is_op<Op::relu>},
    {"op_gelu", flag, "the op is a gelu", is_op<Op::gelu>},
    {"op_add", flag, "the op is an add", is_op<Op::add>},
    {"op_transpose", flag, "the op is a transpose", is_op<Op::transpose>},
    {"fused", flag, "in one kernel with the node before", [](Token t) { return t.members > 1 ? 1.0 : 0.0; }},
    {"tile_32", flag, "the kernel's tile is 32", is_tile<32>},
    {"tile_64", flag, "the kernel's tile is 64", is_tile<64>},
    {"tile_128", flag, "the kernel's tile is 128", is_tile<128>},
    {"tile_256", flag, "the kernel's tile is 256", is_tile<256>},
    {"retained", flag, "the kernel retains this node's output",
     [](Token t) { return t.retained ? 1.0 : 0.0; }},
    {"members", "fusion depths", "members of the kernel up to and with this node",
     [](Token t) { return over(t.members, t.workload->depth); }},
    {"fan_in", logs, "input edges",
     [](Token t) { return log_count(static_cast<double>(t.node->inputs.size())); }},
    {"fan_out", logs, "edges to readers of the output", [](Token t) { return log_count(t.uses); }},
    {"input_uses_left", logs, "edges by which later nodes read this node's inputs",
     [](Token t) { return log_count(t.input_uses_left); }},
    {"next_use", inverse, "how soon the output is read: 1 by the next node, 0 never",
     [](Token t) { return nearness(t.next_use); }},
    {"last_use", inverse, "how soon the output has been read for the last time; 0 if never read",
     [](Token t) { return nearness(t.last_use); }},
    {"reads_previous", flag, "reads the output of the node before it in the order",
     [](Token t) { return t.reads_previous ? 1.0 : 0.0; }},
    {"output_size", capacities, "the output",
     [](Token t) { return size(*t.workload, t.node->output_bytes); }},
    {"loaded_size", capacities, "inputs from outside the kernel that are not resident, first read here",
     [](Token t) { return size(*t.workload, t.loaded_bytes); }},
    {"kept_size", capacities, "of these, what the kernel retains",
     [](Token t) { return size(*t.workload, t.kept_bytes); }},
    {"resident_size", capacities, "inputs from outside the kernel that are resident, first read here",
     [](Token t) { return size(*t.workload, t.resident_bytes); }},
    {"inside_size", capacities, "inputs made by the kernel",
     [](Token t) { return size(*t.workload, t.inside_bytes); }},
    {"slice_size", capacities, "what of inputs and output streams through fast memory at the tile",
     [](Token t) { return size(*t.workload, t.slice_bytes); }},
    {"held_size", capacities, "all that is resident when the kernel starts",
     [](Token t) { return size(*t.workload, t.held_bytes); }},
    {"flops_time", means, "the node's flops",
     [](Token t) { return over(t.node->flops, t.workload->mean_cycles); }},
    {"tiled_time", means, "the node's compute cycles at the kernel's tile",
     [](Token t) { return over(t.tiled_cycles, t.workload->mean_cycles); }},
    {"tile_count", logs, "tiles beyond the first that the output is made in",
     [](Token t) { return log_count(t.tile_count - 1); }},
    {"load_time", means, "transfer of loaded_size",
     [](Token t) { return transfer(*t.workload, t.loaded_bytes); }},
    {"last_read_time", means, "transfer of resident inputs that nobody reads after this node",
     [](Token t) { return transfer(*t.workload, t.last_read_bytes); }},
    {"output_time", means, "transfer of the output",
     [](Token t) { return transfer(*t.workload, t.node->output_bytes); }},
    {"absorbed_time", means, "transfer of inputs made by the kernel that nobody reads after this node",
     [](Token t) { return transfer(*t.workload, t.absorbed_bytes); }},
    {"memory_share", "part", "of the workload: transfer in all transfer and compute cycles of its ops alone",
     [](Token t) { return t.workload->memory_share; }},
    {"launch_time", means, "of the workload: launch cost", [](Token t) { return launch(*t.workload); }},
    {"depth", logs, "of the workload: most members of a kernel",
     [](Token t) { return log_count(t.workload->depth); }},
    {"room", logs, "of the workload: mean tensors that fast memory holds",
     [](Token t) { return room(*t.workload); }},
};

constexpr Column<StateFacts> of_state[] = {
    {"done", "part", "nodes done, of all", [](Between s) { return over(s.done, s.workload->nodes); }},
    {"left", logs, "nodes to do", [](Between s) { return log_count(s.workload->nodes - s.done); }},
    {"open", "fusion depths", "members of the kernel that is not complete",
     [](Between s) { return over(s.open, s.workload->depth); }},
    {"residents", logs, "resident tensors", [](Between s) { return log_count(s.residents); }},
    {"resident_size", capacities, "all residents",
     [](Between s) { return size(*s.workload, s.resident_bytes); }},
    {"resident_time", means, "transfer of all residents",
     [](Between s) { return transfer(*s.workload, s.resident_bytes); }},
    {"resident_uses", logs, "edges by which nodes to do read residents",
     [](Between s) { return log_count(s.resident_uses); }},
    {"live_size", capacities, "tensors that are made and still to be read",
     [](Between s) { return size(*s.workload, s.live_bytes); }},
    {"flops_left", "part", "flops of the nodes to do, of all", [](Between s) { return s.flops_left; }},
    {"next_matmul", flag, "the next node's op is a matmul", next_is<Op::matmul>},
    {"next_conv2d", flag, "the next node's op is a conv2d", next_is<Op::conv2d>},
    {"next_layernorm", flag, "the next node's op is a layernorm", next_is<Op::layernorm>},
    {"next_softmax", flag, "the next node's op is a softmax", next_is<Op::softmax>},
    {"next_reduce", flag, "the next node's op is a reduce", next_is<Op::reduce>},
    {"next_relu", flag, "the next node's op is a relu", next_is<Op::relu>},
    {"next_gelu", flag, "the next node's op is a gelu", next_is<Op::gelu>},
    {"next_add", flag, "the next node's op is an add", next_is<Op::add>},
    {"next_transpose", flag, "the next node's op is a transpose", next_is<Op::transpose>},
    {"next_flops_time", means, "the next node's flops",
     [](Between s) { return s.next ? over(s.next->flops, s.workload->mean_cycles) : 0; }},
    {"next_output_size", capacities, "the next node's output",
     [](Between s) { return s.next ? size(*s.workload, s.next->output_bytes) : 0; }},
    {"next_input_size", capacities, "the next node's inputs",
     [](Between s) { return size(*s.workload, s.next_input_bytes); }},
    {"next_resident_size", capacities, "of these, residents",
     [](Between s) { return size(*s.workload, s.next_resident_bytes); }},
};

constexpr Column<WorkloadFacts> of_workload[] = {
    {"memory_share", "part", "transfer in all transfer and compute cycles of the ops alone",
     [](Machine w) { return w.memory_share; }},
    {"launch_time", means, "launch cost", launch},
    {"depth", logs, "most members of a kernel", [](Machine w) { return log_count(w.depth); }},
    {"room", logs, "mean tensors that fast memory holds", room},
    {"largest_size", capacities, "the largest tensor",
     [](Machine w) { return over(w.largest_bytes, w.capacity); }},
    {"peak_size", capacities, "the most that is live at once",
     [](Machine w) { return over(w.peak_bytes, w.capacity); }},
    {"nodes", logs, "nodes of the graph", [](Machine w) { return log_count(w.nodes); }},
};

constexpr int version = 1;

}  // namespace

std::span<const Column<TokenFacts>> token_columns() {
  return of_token;
}
std::span<const Column<StateFacts>> state_columns() {
  return of_state;
}
std::span<const Column<WorkloadFacts>> workload_columns() {
  return of_workload;
}

const Schema& token_schema() {
  static const Schema schema = schema_of("walk.token", version, token_columns());
  return schema;
}
const Schema& state_schema() {
  static const Schema schema = schema_of("walk.state", version, state_columns());
  return schema;
}
const Schema& workload_schema() {
  static const Schema schema = schema_of("walk.workload", version, workload_columns());
  return schema;
}

}  // namespace fuselage::walk

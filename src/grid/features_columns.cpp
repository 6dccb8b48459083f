#include "features_columns.h"

#include <cmath>

namespace fuselage::grid {
namespace {

// Where nothing takes any time there is nothing to compare with.
double over(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
double log_count(double count) {
  return std::log2(1 + count);
}
double size(const WorkloadFacts& w, double elements) {
  return over(elements, w.capacity);
}
double time(const WorkloadFacts& w, double units) {
  return over(units, w.mean_time);
}
double transfer(const WorkloadFacts& w, double elements) {
  return over(elements * w.time_per_element, w.mean_time);
}

constexpr const char* flag = "0 or 1";
constexpr const char* capacities = "capacities";  // elements / capacity
constexpr const char* means = "mean op times";    // time / Features::mean_time
constexpr const char* logs = "log2(1 + n)";

constexpr Column<TokenFacts> of_token[] = {
    {"op_matmul", flag, "the op is a matmul",
     [](const TokenFacts& t) -> double { return t.is_matmul ? 1.0 : 0.0; }},
    {"sink", flag, "makes what no op of the kernel reads",
     [](const TokenFacts& t) -> double { return t.is_sink ? 1.0 : 0.0; }},
    {"root", flag, "runs on the tile itself: a sink, or feeds pointwise ops that do",
     [](const TokenFacts& t) -> double { return t.is_root ? 1.0 : 0.0; }},
    {"feeds_lhs", flag, "an op of the kernel reads it as left operand",
     [](const TokenFacts& t) -> double { return t.feeds_lhs ? 1.0 : 0.0; }},
    {"feeds_rhs", flag, "an op of the kernel reads it as right operand",
     [](const TokenFacts& t) -> double { return t.feeds_rhs ? 1.0 : 0.0; }},
    {"retained", flag, "the kernel retains an output",
     [](const TokenFacts& t) -> double { return t.retained ? 1.0 : 0.0; }},
    {"again", flag, "the op has run before",
     [](const TokenFacts& t) -> double { return t.again ? 1.0 : 0.0; }},
    {"place", "part", "ops of the kernel up to and with this one, of all",
     [](const TokenFacts& t) -> double { return over(t.place + 1, t.count); }},
    {"fan_in", logs, "distinct inputs", [](const TokenFacts& t) -> double { return log_count(t.fan_in); }},
    {"fan_out", logs, "ops that read the outputs",
     [](const TokenFacts& t) -> double { return log_count(t.fan_out); }},
    {"readers_left", logs, "of these, outside the kernel and not run yet",
     [](const TokenFacts& t) -> double { return log_count(t.readers_left); }},
    {"lag", logs, "levels after the first op to do",
     [](const TokenFacts& t) -> double { return log_count(t.lag); }},
    {"levels_left", "part", "levels after this one, of all",
     [](const TokenFacts& t) -> double { return over(t.levels_left, t.workload->levels); }},
    {"output_size", capacities, "the outputs",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.output); }},
    {"loaded_size", capacities, "inputs from outside the kernel that are not resident",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.loaded); }},
    {"resident_size", capacities, "inputs from outside the kernel that are resident",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.resident); }},
    {"inside_size", capacities, "inputs made by the kernel",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.inside); }},
    {"kept_size", capacities, "outputs that the kernel retains",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.kept); }},
    {"asked_size", capacities, "what of the output is made at a time",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.asked); }},
    {"slice_size", capacities, "what of the inputs from outside is read at a time",
     [](const TokenFacts& t) -> double { return size(*t.workload, t.slices); }},
    {"compute_time", means, "arithmetic of all tiles at native granularity",
     [](const TokenFacts& t) -> double { return time(*t.workload, t.compute); }},
    {"output_time", means, "transfer of the outputs",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.output); }},
    {"load_time", means, "transfer of loaded_size",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.loaded); }},
    {"last_read_time", means, "transfer of resident inputs that no other op to do reads",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.last_read); }},
    {"absorbed_time", means, "transfer of outputs that only ops of the kernel read",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.absorbed); }},
    {"buried_time", means, "transfer of outputs that stay inside though others are left that read them",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.buried); }},
    {"store_time", means, "transfer of outputs to slow memory",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.stored); }},
    {"idle_store_time", means, "of this, of what nobody needs there",
     [](const TokenFacts& t) -> double { return transfer(*t.workload, t.idle_store); }},
    {"reduction", "native widths", "K of a matmul",
     [](const TokenFacts& t) -> double { return over(t.reduction, t.workload->native_width); }},
    {"k_steps", logs, "k-steps of the kernel beyond the first",
     [](const TokenFacts& t) -> double { return log_count(t.steps - 1); }},
    {"tile_rows", logs, "rows of tiles beyond the first",
     [](const TokenFacts& t) -> double { return log_count(t.rows - 1); }},
    {"tile_columns", logs, "columns of tiles beyond the first",
     [](const TokenFacts& t) -> double { return log_count(t.columns - 1); }},
    {"tile_height", "native heights", "height of a tile",
     [](const TokenFacts& t) -> double { return t.tile_height; }},
    {"tile_width", "native widths", "width of a tile",
     [](const TokenFacts& t) -> double { return t.tile_width; }},
    {"tile_depth", "native widths", "length of a k-step",
     [](const TokenFacts& t) -> double { return t.tile_depth; }},
    {"row_snake", flag, "tiles row by row, every other row backwards",
     [](const TokenFacts& t) -> double { return t.row_snake ? 1.0 : 0.0; }},
    {"column_snake", flag, "tiles column by column, every other column backwards",
     [](const TokenFacts& t) -> double { return t.column_snake ? 1.0 : 0.0; }},
};

constexpr Column<KernelFacts> of_kernel[] = {
    {"ops", logs, "ops", [](const KernelFacts& k) -> double { return log_count(k.count); }},
    {"fresh", logs, "ops that have not run yet",
     [](const KernelFacts& k) -> double { return log_count(k.fresh); }},
    {"again", logs, "ops that have run before",
     [](const KernelFacts& k) -> double { return log_count(k.count - k.fresh); }},
    {"matmuls", logs, "matmuls", [](const KernelFacts& k) -> double { return log_count(k.matmuls); }},
    {"upstream_matmuls", logs, "matmuls that don't run on the tile itself",
     [](const KernelFacts& k) -> double { return log_count(k.upstream_matmuls); }},
    {"sinks", logs, "tensors made that no op of the kernel reads",
     [](const KernelFacts& k) -> double { return log_count(k.sinks); }},
    {"inputs", logs, "tensors from outside",
     [](const KernelFacts& k) -> double { return log_count(k.inputs); }},
    {"retained", logs, "tensors retained",
     [](const KernelFacts& k) -> double { return log_count(k.retained); }},
    {"readers_left", logs, "ops outside that have not run and read what it makes",
     [](const KernelFacts& k) -> double { return log_count(k.readers_left); }},
    {"kept_readers", logs, "of these, of what is retained",
     [](const KernelFacts& k) -> double { return log_count(k.kept_readers); }},
    {"unlocked", logs, "ops outside that can run after it and could not before",
     [](const KernelFacts& k) -> double { return log_count(k.unlocked); }},
    {"kept_unlocked", logs, "ops outside that read what is retained and can run after it",
     [](const KernelFacts& k) -> double { return log_count(k.kept_unlocked); }},
    {"ready_taken", "part", "ops that could run before it, of all such",
     [](const KernelFacts& k) -> double { return over(k.ready_taken, k.ready_before); }},
    {"left_after", logs, "ops that have not run after it",
     [](const KernelFacts& k) -> double { return log_count(k.left_after); }},
    {"first_lag", logs, "levels after the first op to do, of its first op",
     [](const KernelFacts& k) -> double { return log_count(k.first_lag); }},
    {"last_lag", logs, "levels after the first op to do, of its last op",
     [](const KernelFacts& k) -> double { return log_count(k.last_lag); }},
    {"compute_time", means, "arithmetic of its ops",
     [](const KernelFacts& k) -> double { return time(*k.workload, k.compute); }},
    {"again_part", "part", "arithmetic of ops that have run before, of all",
     [](const KernelFacts& k) -> double { return over(k.compute - k.fresh_compute, k.compute); }},
    {"matmul_part", "part", "arithmetic of matmuls, of all",
     [](const KernelFacts& k) -> double { return over(k.matmul_compute, k.compute); }},
    {"lhs_time", means, "arithmetic of ops that feed a left operand",
     [](const KernelFacts& k) -> double { return time(*k.workload, k.lhs_compute); }},
    {"rhs_time", means, "arithmetic of ops that feed a right operand",
     [](const KernelFacts& k) -> double { return time(*k.workload, k.rhs_compute); }},
    {"load_time", means, "transfer of inputs that are not resident",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.loaded); }},
    {"input_load_time", means, "of this, of graph inputs",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.input_loaded); }},
    {"resident_time", means, "transfer of inputs that are resident",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.resident); }},
    {"last_read_time", means, "of this, of inputs that no other op to do reads",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.last_read); }},
    {"absorbed_time", means, "transfer of tensors made that only ops of the kernel read",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.absorbed); }},
    {"buried_time", means, "transfer of tensors that stay inside though others are left that read them",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.buried); }},
    {"store_time", means, "transfer of tensors to slow memory",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.stored); }},
    {"idle_store_time", means, "of this, of what nobody needs there",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.idle_store); }},
    {"kept_time", means, "transfer of retained tensors",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.kept); }},
    {"wasted_time", means, "transfer of residents that it doesn't read",
     [](const KernelFacts& k) -> double { return transfer(*k.workload, k.wasted); }},
    {"moved_part", "part", "transfers, of transfers and arithmetic",
     [](const KernelFacts& k) -> double {
       return over(k.moved * k.workload->time_per_element,
                   k.moved * k.workload->time_per_element + k.compute);
     }},
    {"spared_part", "part", "transfers that residents and what stays inside spare, of those without",
     [](const KernelFacts& k) -> double {
       return over(k.resident + 2 * k.absorbed, k.moved + k.resident + 2 * k.absorbed);
     }},
    {"fresh_compute_time", means, "arithmetic of an op that has not run yet, on average",
     [](const KernelFacts& k) -> double { return over(time(*k.workload, k.fresh_compute), k.fresh); }},
    {"fresh_moved_time", means, "transfers for an op that has not run yet, on average",
     [](const KernelFacts& k) -> double { return over(transfer(*k.workload, k.moved), k.fresh); }},
    {"held_size", capacities, "resident when it starts",
     [](const KernelFacts& k) -> double { return size(*k.workload, k.held); }},
    {"kept_size", capacities, "retained",
     [](const KernelFacts& k) -> double { return size(*k.workload, k.kept); }},
    {"slice_size", capacities, "what of the inputs is read at a time",
     [](const KernelFacts& k) -> double { return size(*k.workload, k.slices); }},
    {"working_size", capacities, "slices, tiles that are stored, residents and what is retained",
     [](const KernelFacts& k) -> double { return size(*k.workload, k.working_set); }},
    {"reduction", "native widths", "the longest K of its matmuls",
     [](const KernelFacts& k) -> double { return over(k.reduction, k.workload->native_width); }},
    {"k_steps", logs, "k-steps beyond the first",
     [](const KernelFacts& k) -> double { return log_count(k.steps - 1); }},
    {"tile_rows", logs, "rows of tiles beyond the first",
     [](const KernelFacts& k) -> double { return log_count(k.rows - 1); }},
    {"tile_columns", logs, "columns of tiles beyond the first",
     [](const KernelFacts& k) -> double { return log_count(k.columns - 1); }},
};

constexpr Column<StateFacts> of_state[] = {
    {"done", "part", "ops that have run, of all",
     [](const StateFacts& s) -> double { return over(s.done, s.workload->ops); }},
    {"left", logs, "ops that have not run",
     [](const StateFacts& s) -> double { return log_count(s.workload->ops - s.done); }},
    {"ready", logs, "of these, such that all that makes their inputs did",
     [](const StateFacts& s) -> double { return log_count(s.ready); }},
    {"ready_matmuls", "part", "matmuls among these",
     [](const StateFacts& s) -> double { return over(s.ready_matmuls, s.ready); }},
    {"spread", logs, "levels between the first and the last of these",
     [](const StateFacts& s) -> double { return log_count(s.spread); }},
    {"residents", logs, "resident tensors",
     [](const StateFacts& s) -> double { return log_count(s.residents); }},
    {"resident_size", capacities, "all residents",
     [](const StateFacts& s) -> double { return size(*s.workload, s.resident_size); }},
    {"resident_time", means, "transfer of all residents",
     [](const StateFacts& s) -> double { return transfer(*s.workload, s.resident_size); }},
    {"resident_uses", logs, "ops to do that read residents",
     [](const StateFacts& s) -> double { return log_count(s.resident_uses); }},
    {"live", logs, "made tensors in slow memory that ops to do read",
     [](const StateFacts& s) -> double { return log_count(s.live); }},
    {"live_time", means, "transfer of these",
     [](const StateFacts& s) -> double { return transfer(*s.workload, s.live_size); }},
    {"lost", logs, "tensors made that ops to do read and that are nowhere",
     [](const StateFacts& s) -> double { return log_count(s.lost); }},
    {"lost_time", means, "arithmetic of the ops that made these",
     [](const StateFacts& s) -> double { return time(*s.workload, s.lost_compute); }},
    {"compute_left", "part", "arithmetic of the ops to do, of all",
     [](const StateFacts& s) -> double { return s.compute_left; }},
    {"memory_left", "part", "of the ops to do: transfers in transfers and arithmetic",
     [](const StateFacts& s) -> double { return s.memory_left; }},
};

constexpr Column<WorkloadFacts> of_workload[] = {
    {"memory_share", "part", "transfers in all transfers and arithmetic of the ops alone",
     [](const WorkloadFacts& w) -> double { return w.memory_share; }},
    {"matmul_share", "part", "arithmetic of matmuls in all",
     [](const WorkloadFacts& w) -> double { return w.matmul_share; }},
    {"room", logs, "mean tensors that fast memory holds",
     [](const WorkloadFacts& w) -> double { return log_count(over(w.capacity, w.mean_size)); }},
    {"largest_size", capacities, "the largest tensor",
     [](const WorkloadFacts& w) -> double { return over(w.largest_size, w.capacity); }},
    {"tile_size", capacities, "a tile at native granularity",
     [](const WorkloadFacts& w) -> double { return over(w.tile_size, w.capacity); }},
    {"strip_size", capacities, "a tile's strip of the longest reduction",
     [](const WorkloadFacts& w) -> double { return over(w.strip_size, w.capacity); }},
    {"tile_transfer", "part", "transfer of a native tile in that and the mean arithmetic of a native tile",
     [](const WorkloadFacts& w) -> double { return w.tile_transfer; }},
    {"ops", logs, "ops", [](const WorkloadFacts& w) -> double { return log_count(w.ops); }},
    {"levels", logs, "ops on the longest way",
     [](const WorkloadFacts& w) -> double { return log_count(w.levels); }},
    {"matmuls", "part", "matmuls among the ops",
     [](const WorkloadFacts& w) -> double { return over(w.matmuls, w.ops); }},
    {"contest", flag, "the rules are mlsys",
     [](const WorkloadFacts& w) -> double { return w.contest ? 1.0 : 0.0; }},
    {"forgiving", flag, "what was never stored can be loaded all the same",
     [](const WorkloadFacts& w) -> double { return w.forgiving ? 1.0 : 0.0; }},
    {"native_k", flag, "a k-step of a matmul costs what it is long against native width",
     [](const WorkloadFacts& w) -> double { return w.native_k ? 1.0 : 0.0; }},
};

constexpr int version = 1;

}  // namespace

std::span<const Column<TokenFacts>> token_columns() {
  return of_token;
}
std::span<const Column<KernelFacts>> kernel_columns() {
  return of_kernel;
}
std::span<const Column<StateFacts>> state_columns() {
  return of_state;
}
std::span<const Column<WorkloadFacts>> workload_columns() {
  return of_workload;
}

const Schema& token_schema() {
  static const Schema schema = schema_of("grid.token", version, token_columns());
  return schema;
}
const Schema& kernel_schema() {
  static const Schema schema = schema_of("grid.kernel", version, kernel_columns());
  return schema;
}
const Schema& state_schema() {
  static const Schema schema = schema_of("grid.state", version, state_columns());
  return schema;
}
const Schema& workload_schema() {
  static const Schema schema = schema_of("grid.workload", version, workload_columns());
  return schema;
}

}  // namespace fuselage::grid

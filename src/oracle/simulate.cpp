#include "fuselage/oracle/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuselage/core/error.h"
#include "simulate_detail.h"

namespace fuselage::oracle {

std::string_view name(FaultCode code) {
  switch (code) {
    case FaultCode::duplicate:
      return "DUPLICATE";
    case FaultCode::order:
      return "ORDER";
    case FaultCode::not_connected:
      return "NOT_CONNECTED";
    case FaultCode::too_deep:
      return "TOO_DEEP";
    case FaultCode::tile:
      return "TILE";
    case FaultCode::retain:
      return "RETAIN";
    case FaultCode::oom:
      return "OOM";
    case FaultCode::coverage:
      return "COVERAGE";
  }
  return "";
}

Simulation simulate(const Graph& graph, const Hardware& hardware, const walk::Plan& plan,
                    const SimulateOptions& options) {
  if (options.rules == walk::Rules::physical)
    return detail::simulate_physical(graph, hardware, plan, options.order);
  if (options.order == walk::Order::free)
    fail("order: free under rules {}; expected fixed, since free exists under physical only",
         name(options.rules));
  return detail::simulate_seed(graph, hardware, plan, options.rules);
}

namespace detail {
namespace {

std::size_t index(NodeId id) {
  return static_cast<std::size_t>(id);
}

// nt = max(1, ceil(elements / tile^2))
std::int64_t tiles_of(const Node& node, int tile) {
  const std::int64_t area = std::int64_t{tile} * tile;
  return std::max<std::int64_t>(1, node.elements() / area + (node.elements() % area != 0 ? 1 : 0));
}

// The order of operations is the one that golden/walk was measured with, to the last bit: a compute op is
// multiplied by 1 / sqrt(efficiency), not divided by the root.
double node_cycles(const Node& node, int tile) {
  const double f = node.flops;
  const auto nt = tiles_of(node, tile);
  switch (op_class(node.op)) {
    case OpClass::compute: {
      const double efficiency = std::min(1.0, tile / 128.0);
      return f * (1.0 / std::sqrt(efficiency)) + static_cast<double>(nt) * (f * 0.02);
    }
    case OpClass::reduction:
      return f * (1.0 + 0.1 * static_cast<double>(std::max<std::int64_t>(0, 3 - nt)));
    case OpClass::pointwise:
      return f;
  }
  return f;
}

}  // namespace

void Group::add(NodeId node) {
  sequence_.push_back(node);
  members_.insert(node);
  outputs_.insert(node);
  for (NodeId input : graph_->inputs(node)) {
    if (!has(input))
      inputs_.insert(input);
    else if (++reads_inside_[input] == graph_->uses(input))
      outputs_.erase(input);  // read inside, and by nobody outside
  }
}

std::int64_t add_bytes(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t full_bytes(const Graph& graph, const Tensors& tensors) {
  std::int64_t sum = 0;
  for (NodeId id : tensors) sum = add_bytes(sum, graph.bytes(id));
  return sum;
}

std::int64_t slice_bytes(const Graph& graph, const Tensors& tensors, int tile) {
  std::int64_t sum = 0;
  for (NodeId id : tensors) sum = add_bytes(sum, std::min(graph.bytes(id), std::int64_t{4} * tile * tile));
  return sum;
}

double compute_cycles(const Graph& graph, std::span<const NodeId> nodes, int tile) {
  double sum = 0;
  for (NodeId id : nodes) sum += node_cycles(graph.node(id), tile);
  return sum;
}

Progress::Progress(const Graph& graph, const Hardware& hardware, walk::Order order)
    : graph_(&graph), hardware_(&hardware), order_(order), kernel_of_(index(graph.size())) {
  for (NodeId id = 0; id < graph.size(); ++id) uses_left_.push_back(graph.uses(id));
}

void Progress::run(int kernel, NodeId node) {
  kernel_of_[index(node)] = kernel;
  ++nodes_run_;
  for (NodeId input : graph_->inputs(node)) --uses_left_[index(input)];
}

std::optional<Fault> Progress::check(int kernel, const walk::PlanKernel& plan) const {
  if (plan.nodes.empty())
    return Fault{FaultCode::order, kernel, fmt::format("kernel {}: has no nodes", kernel)};
  Group before(*graph_);
  for (NodeId node : plan.nodes) {
    if (auto fault = check_member(kernel, node, before)) return fault;
    before.add(node);
  }
  return check_lists(kernel, plan);
}

std::optional<Fault> Progress::check_member(int kernel, NodeId node, const Group& before) const {
  if (!known(node))
    return Fault{FaultCode::order, kernel,
                 fmt::format("kernel {}: node {} is not in the graph, whose ids are 0 to {}", kernel, node,
                             graph_->size() - 1)};
  if (before.has(node))
    return Fault{FaultCode::duplicate, kernel,
                 fmt::format("kernel {}: node {} is listed twice", kernel, node)};
  if (const auto earlier = kernel_of_[index(node)])
    return Fault{FaultCode::duplicate, kernel,
                 fmt::format("kernel {}: node {} ran in kernel {} already", kernel, node, *earlier)};
  if (auto fault = check_place(kernel, node, before)) return fault;
  if (before.sequence().empty()) return std::nullopt;

  const auto inputs = graph_->inputs(node);
  if (std::ranges::none_of(inputs, [&](NodeId input) { return before.has(input); }))
    return Fault{FaultCode::not_connected, kernel,
                 fmt::format("kernel {}: node {} reads nothing inside the kernel", kernel, node)};
  if (const std::size_t size = before.sequence().size() + 1;
      std::cmp_greater(size, hardware_->max_fusion_depth))
    return Fault{FaultCode::too_deep, kernel,
                 fmt::format("kernel {}: node {} is number {} of the kernel, but max_fusion_depth is {}",
                             kernel, node, size, hardware_->max_fusion_depth)};
  return std::nullopt;
}

std::optional<Fault> Progress::check_place(int kernel, NodeId node, const Group& before) const {
  for (NodeId input : graph_->inputs(node))
    if (!kernel_of_[index(input)] && !before.has(input))
      return Fault{FaultCode::order, kernel,
                   fmt::format("kernel {}: node {} runs before its input {}", kernel, node, input)};
  if (order_ == walk::Order::free) return std::nullopt;
  const NodeId next = graph_->order()[index(nodes_run_) + before.sequence().size()];
  if (node == next) return std::nullopt;
  return Fault{FaultCode::order, kernel,
               fmt::format("kernel {}: node {} runs where the fixed order has node {}", kernel, node, next)};
}

std::optional<Fault> Progress::check_lists(int kernel, const walk::PlanKernel& plan) const {
  if (std::ranges::find(walk::tiles, plan.tile) == walk::tiles.end())
    return Fault{FaultCode::tile, kernel,
                 fmt::format("kernel {}: tile {} is not one of 32, 64, 128, 256", kernel, plan.tile)};
  for (NodeId id : plan.retain)
    if (!known(id))
      return Fault{FaultCode::retain, kernel,
                   fmt::format("kernel {}: retains {}, which is not in the graph, whose ids are 0 to {}",
                               kernel, id, graph_->size() - 1)};
  return std::nullopt;
}

std::optional<Fault> Progress::check_coverage() const {
  if (complete()) return std::nullopt;
  NodeId first = 0;
  while (kernel_of_[index(first)]) ++first;
  return Fault{
      FaultCode::coverage, std::nullopt,
      fmt::format("plan: no kernel runs node {}; {} of {} nodes run", first, nodes_run_, graph_->size())};
}

Fault not_retainable(int kernel, NodeId tensor) {
  return {
      FaultCode::retain, kernel,
      fmt::format("kernel {}: retains {}, which is neither a member, an input nor resident", kernel, tensor)};
}

Fault out_of_memory(int kernel, std::int64_t working_set, const Hardware& hardware,
                    const std::string& where) {
  return {FaultCode::oom, kernel,
          fmt::format("kernel {}: working set {} B exceeds fast_mem_capacity {} B {}", kernel, working_set,
                      hardware.fast_mem_capacity, where)};
}

}  // namespace detail
}  // namespace fuselage::oracle

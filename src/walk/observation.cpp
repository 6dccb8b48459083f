// The text that an agent sees, byte for byte as the public environment prints it (compact JSON).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "fuselage/walk/baseline.h"
#include "fuselage/walk/episode.h"

namespace fuselage::walk {
namespace {

void append_number(std::string& out, std::int64_t value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

template <class Ids>
void append_ids(std::string& out, const Ids& ids) {
  out += '[';
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, ids[i]);
  }
  out += ']';
}

// Python's repr of a double: shortest digits, fixed notation from 1e-4 up to 1e16, always with a point.
std::string python_repr(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char buffer[400];
  const bool fixed = value == 0 || (std::fabs(value) >= 1e-4 && std::fabs(value) < 1e16);
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string node_brief(const Graph& graph, NodeId id, bool with_shape) {
  const Node& node = graph.node(id);
  std::string out = "{\"id\":";
  append_number(out, id);
  out.append(",\"op\":\"").append(name(node.op)).append("\",\"inputs\":");
  append_ids(out, node.inputs);
  if (with_shape) out += fmt::format(",\"shape\":[{},{}]", node.height, node.width);
  out += '}';
  return out;
}

EpisodeContext::Text make_text(const Graph& graph, double greedy_latency) {
  EpisodeContext::Text text;
  text.nodes = "[";
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    text.use_key.push_back(fmt::format("\"{}\":", id));
    std::string info = fmt::format("{{\"id\":{},\"op\":\"{}\",\"shape\":[{},{}],\"inputs\":", id,
                                   name(node.op), node.height, node.width);
    append_ids(info, node.inputs);
    text.node_info.push_back(info + fmt::format(",\"output_bytes\":{}}}", node.output_bytes));
    text.brief.push_back(node_brief(graph, id, false));
    if (id > 0) text.nodes += ',';
    text.nodes += node_brief(graph, id, graph.size() <= 20 || id == 0);
  }
  text.nodes += ']';
  append_rounded(text.greedy_baseline, greedy_latency);
  return text;
}

}  // namespace

EpisodeContext::EpisodeContext(Workload workload)
    : workload_(std::move(workload)),
      runs_(workload_.graph, workload_.hardware),
      greedy_latency_(greedy(workload_.graph, workload_.hardware).latency),
      naive_latency_(walk::naive_latency(workload_.graph, workload_.hardware)),
      text_(make_text(workload_.graph, greedy_latency_)) {}

void append_rounded(std::string& out, double value) {
  // Far from a tie and small enough, the nearest tenth is what correct rounding gives.
  const double tenths = value * 10;
  if (value >= 0 && tenths < 1e14) {
    const double nearest = std::nearbyint(tenths);
    if (std::fabs(tenths - nearest) < 0.49) {
      const auto whole = static_cast<std::int64_t>(nearest);
      append_number(out, whole / 10);
      out += '.';
      out += static_cast<char>('0' + whole % 10);
      return;
    }
  }
  if (!std::isfinite(value)) {
    out += python_repr(value);
    return;
  }
  char buffer[400];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, 1).ptr;
  double rounded = 0;
  std::from_chars(buffer, end, rounded);
  out += python_repr(rounded);
}

std::string to_string(const StepError& error, const Hardware& hardware) {
  switch (error.kind) {
    case StepError::Kind::not_connected:
      return "Cannot fuse: not connected to current group";
    case StepError::Kind::too_deep:
      return fmt::format("Cannot fuse: exceeds max fusion depth {}", hardware.max_fusion_depth);
    case StepError::Kind::oom:
      return fmt::format("OOM: working set {} > capacity {}", error.working_set, hardware.fast_mem_capacity);
    case StepError::Kind::none:
      break;
  }
  return {};
}

void Episode::observe(std::string& out) const {
  const Graph& graph = context_->graph();
  const Hardware& hardware = context_->hardware();
  const EpisodeContext::Text& text = context_->text();
  const auto key = [&](std::string_view literal, std::int64_t value) {
    out += literal;
    append_number(out, value);
  };
  key("{\"step\":", steps_);
  key(",\"current_node\":", current_node());
  out += ",\"current_group\":{\"node_ids\":";
  append_ids(out, group_nodes());
  key(",\"tile\":", group_.count > 0 ? group_.tile : default_tile);
  out += "},\"fast_mem\":";
  if (resident_.size() > 1)
    append_ids(out, fast_mem());
  else
    append_ids(out, resident_);
  key(",\"fast_mem_used\":", fast_mem_used_);
  key(",\"capacity\":", hardware.fast_mem_capacity);
  key(",\"max_fusion\":", hardware.max_fusion_depth);
  out += ",\"future_uses\":{";
  bool first = true;
  for (std::size_t id = 0; id < remaining_.size(); ++id) {
    if (remaining_[id] <= 0) continue;
    if (!first) out += ',';
    first = false;
    out += text.use_key[id];
    append_number(out, remaining_[id]);
  }
  out += "},\"total_latency\":";
  append_rounded(out, total_latency_);
  key(",\"kernel_launches\":", launches_);
  out.append(",\"greedy_baseline\":").append(text.greedy_baseline);
  if (error_.kind != StepError::Kind::none)
    out.append(",\"error\":\"").append(to_string(error_, hardware)).append("\"");
  if (steps_ == 0) {
    out.append(",\"nodes\":").append(text.nodes);
    key(",\"tensor_bytes\":", graph.bytes(0));
  } else if (position_ < graph.size()) {
    out.append(",\"current_node_info\":").append(text.node_info[static_cast<std::size_t>(current_node())]);
    const auto rest = graph.order().subspan(static_cast<std::size_t>(position_) + 1);
    const auto ahead = rest.first(std::min(rest.size(), static_cast<std::size_t>(options_.lookahead)));
    for (std::size_t i = 0; i < ahead.size(); ++i)
      out.append(i == 0 ? ",\"lookahead\":[" : ",").append(text.brief[static_cast<std::size_t>(ahead[i])]);
    if (!ahead.empty()) out += ']';
  }
  out += '}';
}

std::string Episode::observation() const {
  std::string out;
  observe(out);
  return out;
}

}  // namespace fuselage::walk

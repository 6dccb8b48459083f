#include "towers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "id_list.h"
#include "mix.h"

namespace fuselage::walk {
namespace {

constexpr int largest_graph = 2000;
constexpr std::size_t largest_tower = 21;  // 3 bits a node in a signature

std::uint64_t mix_sorted(std::uint64_t hash, std::span<const NodeId> ids,
                         const std::vector<std::uint64_t>& colours) {
  std::vector<std::uint64_t> seen;
  for (NodeId x : ids) seen.push_back(colours[static_cast<std::size_t>(x)]);
  std::sort(seen.begin(), seen.end());
  for (std::uint64_t colour : seen) hash = mix(hash, colour);
  return mix(hash, seen.size());
}

std::size_t count_distinct(std::vector<std::uint64_t> colours) {
  std::sort(colours.begin(), colours.end());
  return static_cast<std::size_t>(std::unique(colours.begin(), colours.end()) - colours.begin());
}

// Nothing if the deadline passes.
std::optional<std::vector<std::uint64_t>> refine(const Graph& graph, const Deadline& deadline) {
  std::vector<std::uint64_t> colours;
  for (const Node& node : graph.nodes()) {
    std::uint64_t flops = 0;
    static_assert(sizeof flops == sizeof node.flops);
    std::copy_n(reinterpret_cast<const char*>(&node.flops), sizeof flops, reinterpret_cast<char*>(&flops));
    std::uint64_t colour = mix(flops, static_cast<std::uint64_t>(node.op));
    for (const std::int64_t value : {std::int64_t{node.height}, std::int64_t{node.width}, node.output_bytes})
      colour = mix(colour, static_cast<std::uint64_t>(value));
    colours.push_back(colour);
  }
  for (std::size_t known = 0, now = count_distinct(colours); now > known;) {
    std::vector<std::uint64_t> next;
    for (NodeId v = 0; v < graph.size(); ++v) {
      if (v % 64 == 0 && deadline.passed()) return std::nullopt;
      next.push_back(
          mix_sorted(mix_sorted(mix(1, colours[static_cast<std::size_t>(v)]), graph.inputs(v), colours),
                     graph.consumers(v), colours));
    }
    colours = std::move(next);
    known = now;
    now = count_distinct(colours);
  }
  return colours;
}

// The connected parts of the nodes whose colour is not unique, each sorted by colour and position.
std::vector<std::vector<int>> parts(const Graph& graph, const std::vector<std::uint64_t>& colours) {
  std::map<std::uint64_t, int> count;
  for (std::uint64_t colour : colours) ++count[colour];
  const auto shared = [&](NodeId v) { return count[colours[static_cast<std::size_t>(v)]] > 1; };
  std::vector<bool> seen(colours.size());
  std::vector<std::vector<int>> found;
  for (NodeId root : graph.order()) {
    if (seen[static_cast<std::size_t>(root)] || !shared(root)) continue;
    std::vector<NodeId> open = {root};
    seen[static_cast<std::size_t>(root)] = true;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const NodeId v = open[i];
      for (const auto ids : {graph.inputs(v), graph.consumers(v)})
        for (NodeId x : ids)
          if (shared(x) && !seen[static_cast<std::size_t>(x)]) {
            seen[static_cast<std::size_t>(x)] = true;
            open.push_back(x);
          }
    }
    std::sort(open.begin(), open.end(), [&](NodeId a, NodeId b) {
      const auto key = [&](NodeId v) {
        return std::pair(colours[static_cast<std::size_t>(v)], graph.position(v));
      };
      return key(a) < key(b);
    });
    std::vector<int>& positions = found.emplace_back();
    for (NodeId v : open) positions.push_back(graph.position(v));
  }
  return found;
}

// Does exchanging the two map every edge to an edge?
bool can_swap(const Graph& graph, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<NodeId> to(static_cast<std::size_t>(graph.size()));
  std::iota(to.begin(), to.end(), 0);
  std::vector<NodeId> touched;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NodeId v = graph.order()[static_cast<std::size_t>(a[i])];
    const NodeId w = graph.order()[static_cast<std::size_t>(b[i])];
    to[static_cast<std::size_t>(v)] = w;
    to[static_cast<std::size_t>(w)] = v;
    touched.insert(touched.end(), {v, w});
  }
  for (std::size_t i = 2 * a.size(); i-- > 0;)
    for (NodeId c : graph.consumers(touched[i])) touched.push_back(c);
  for (NodeId v : touched) {
    const NodeId image = to[static_cast<std::size_t>(v)];
    const Node& one = graph.node(v);
    const Node& other = graph.node(image);
    if (one.op != other.op || one.height != other.height || one.width != other.width ||
        one.flops != other.flops || one.output_bytes != other.output_bytes)
      return false;
    std::vector<NodeId> mapped;
    for (NodeId x : graph.inputs(v)) mapped.push_back(to[static_cast<std::size_t>(x)]);
    std::vector<NodeId> wanted(graph.inputs(image).begin(), graph.inputs(image).end());
    std::sort(mapped.begin(), mapped.end());
    std::sort(wanted.begin(), wanted.end());
    if (mapped != wanted) return false;
  }
  return true;
}

}  // namespace

Towers::Towers(const Graph& graph, const Deadline& deadline) : graph_(graph), first_(graph.size()) {
  if (graph.size() > largest_graph) return;
  const auto colours = refine(graph, deadline);
  if (!colours) return;
  std::map<std::vector<std::uint64_t>, Group> by_colours;
  for (Tower& part : parts(graph, *colours)) {
    if (part.size() > largest_tower) continue;
    if (deadline.passed()) break;
    std::vector<std::uint64_t> key;
    for (int at : part)
      key.push_back((*colours)[static_cast<std::size_t>(graph.order()[static_cast<std::size_t>(at)])]);
    Group& group = by_colours[key];
    if (group.empty() || can_swap(graph, group.front(), part)) group.push_back(std::move(part));
  }
  for (auto& [key, group] : by_colours) {
    if (group.size() < 2) continue;
    for (const Tower& tower : group) first_ = std::min(first_, *std::min_element(tower.begin(), tower.end()));
    groups_.push_back(std::move(group));
  }
}

std::uint64_t Towers::signature_of(const State& state, const Tower& tower) const {
  std::uint64_t signature = 0;
  for (int at : tower) {
    const NodeId v = graph_.order()[static_cast<std::size_t>(at)];
    const bool done = at < state.position || std::binary_search(state.ahead.begin(), state.ahead.end(), at);
    signature = signature * 8 + (done ? 4 : 0);
    if (!done || !std::binary_search(state.resident.begin(), state.resident.end(), v)) continue;
    signature += holds(state.unwritten, v) ? 1 : 2;
  }
  return signature;
}

std::vector<int> Towers::sorting(const State& state) const {
  std::vector<int> to;
  std::vector<std::pair<std::uint64_t, std::size_t>> rank;
  for (const Group& group : groups_) {
    rank.clear();
    for (std::size_t i = 0; i < group.size(); ++i) rank.emplace_back(~signature_of(state, group[i]), i);
    if (std::is_sorted(rank.begin(), rank.end())) continue;
    std::sort(rank.begin(), rank.end());
    if (to.empty()) {
      to.resize(static_cast<std::size_t>(graph_.size()));
      std::iota(to.begin(), to.end(), 0);
    }
    for (std::size_t place = 0; place < rank.size(); ++place)
      for (std::size_t j = 0; j < group[place].size(); ++j)
        to[static_cast<std::size_t>(group[rank[place].second][j])] = group[place][j];
  }
  return to;
}

// Groups share no position, so each is arranged on its own; trying all arrangements is for small groups.
std::vector<int> Towers::earliest(const State& state) const {
  constexpr std::size_t largest_group = 8;
  const auto is_done = [&](int at) {
    return at < state.position || std::binary_search(state.ahead.begin(), state.ahead.end(), at);
  };
  std::vector<int> to(static_cast<std::size_t>(graph_.size()));
  std::iota(to.begin(), to.end(), 0);
  for (const Group& group : groups_) {
    if (group.size() > largest_group) continue;
    std::vector<std::size_t> place(group.size());
    std::iota(place.begin(), place.end(), std::size_t{0});
    std::vector<std::size_t> best_place = place;
    std::vector<int> best;
    do {
      std::vector<int> done;
      for (std::size_t i = 0; i < group.size(); ++i)
        for (std::size_t j = 0; j < group[i].size(); ++j)
          if (is_done(group[i][j])) done.push_back(group[place[i]][j]);
      std::sort(done.begin(), done.end());
      if (!best.empty() && !(done < best)) continue;
      best = done;
      best_place = place;
    } while (std::next_permutation(place.begin(), place.end()));
    for (std::size_t i = 0; i < group.size(); ++i)
      for (std::size_t j = 0; j < group[i].size(); ++j)
        to[static_cast<std::size_t>(group[i][j])] = group[best_place[i]][j];
  }
  return to;
}

State Towers::moved(const State& state, const std::vector<int>& to) const {
  State next = state;
  next.ahead.clear();
  next.position = std::min(state.position, first_);
  for (int at = next.position; at < state.position; ++at)
    next.ahead.push_back(to[static_cast<std::size_t>(at)]);
  for (int at : state.ahead) next.ahead.push_back(to[static_cast<std::size_t>(at)]);
  std::sort(next.ahead.begin(), next.ahead.end());
  std::size_t done = 0;
  while (done < next.ahead.size() && next.ahead[done] == next.position) {
    ++done;
    ++next.position;
  }
  next.ahead.erase(next.ahead.begin(), next.ahead.begin() + static_cast<std::ptrdiff_t>(done));
  for (IdList* ids : {&next.resident, &next.unwritten}) {
    for (NodeId& x : *ids)
      x = graph_.order()[static_cast<std::size_t>(to[static_cast<std::size_t>(graph_.position(x))])];
    std::sort(ids->begin(), ids->end());
  }
  return next;
}

}  // namespace fuselage::walk

// The moves of free order: any set of nodes that some sequence connects is a kernel, and kernels may pass
// each other. What a kernel carries for others goes along: the ones that it passes are asked to retain it.

#include <algorithm>
#include <iterator>

#include "id_list.h"
#include "moves.h"

namespace fuselage::walk {
namespace {

constexpr std::size_t merge_reach = 8;     // kernels between two that are merged, about
constexpr std::size_t reorder_reach = 16;  // kernels that one is moved past

}  // namespace

void FreeMoves::add() {
  const std::size_t left = n_.plan.size() - n_.at;
  split();
  for (std::size_t i = 1; i < std::min(left, merge_reach); ++i) {
    if (!reads(n_.plan[n_.at + i], n_.plan[n_.at])) continue;
    merge(n_.at + i);
    shift_nodes(n_.at + i);
  }
  for (std::size_t i = 1; i < std::min(left, reorder_reach); ++i) {
    if (!reads(n_.plan[n_.at + i], n_.plan[n_.at]))
      pull_before(n_.at + i);
    else if (i > 1)
      pull_behind(n_.at + i);
  }
  push_back();
}

bool FreeMoves::reads(int position, const IdList& made) const {
  const auto inputs = p_.graph_.inputs(p_.node_at(position));
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](NodeId x) { return holds(made, p_.graph_.position(x)); });
}

bool FreeMoves::reads(const Kernel& reader, const Kernel& maker) const {
  return std::any_of(reader.nodes.begin(), reader.nodes.end(),
                     [&](int at) { return reads(at, maker.nodes); });
}

Kernel FreeMoves::kernel_of(const IdList& nodes, const IdList& retain) const {
  Kernel k{.count = static_cast<int>(nodes.size()), .nodes = nodes};
  std::sort(k.nodes.begin(), k.nodes.end());
  k.first = k.nodes.front();
  k.retain = retain;
  return k;
}

// `from` retains what `to` reads of its members and inputs. False if it did already.
bool FreeMoves::link(Kernel& from, const Kernel& to) const {
  const std::size_t before = from.retain.size();
  const auto meets = [&](NodeId x) {
    if (holds(from.nodes, p_.graph_.position(x))) return true;
    return std::any_of(from.nodes.begin(), from.nodes.end(),
                       [&](int at) { return holds(p_.graph_.inputs(p_.node_at(at)), x); });
  };
  for (int at : to.nodes)
    for (NodeId x : p_.graph_.inputs(p_.node_at(at)))
      if (!holds(from.retain, x) && meets(x)) from.retain.push_back(x);
  return from.retain.size() > before;
}

// The move, and the same with its first kernel handing on to its second what that one reads.
void FreeMoves::emit(std::size_t first, std::size_t removed, std::vector<Kernel> added) {
  Kernel linked = added[0];
  const bool more = added.size() > 1 && link(linked, added[1]);
  n_.out.push_back({.first = first, .removed = removed, .added = added});
  if (!more) return;
  added[0] = std::move(linked);
  n_.out.push_back({.first = first, .removed = removed, .added = std::move(added)});
}

// At every member but the first: the members before it, and the rest; it and what depends on it, after the
// others.
void FreeMoves::split() {
  const Kernel& k = n_.plan[n_.at];
  for (std::size_t i = 1; i < k.nodes.size(); ++i) {
    IdList below = {k.nodes[i]};
    IdList others(k.nodes.begin(), k.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = i + 1; j < k.nodes.size(); ++j)
      (reads(k.nodes[j], below) ? below : others).push_back(k.nodes[j]);
    const IdList before(k.nodes.begin(), k.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    const IdList rest(k.nodes.begin() + static_cast<std::ptrdiff_t>(i), k.nodes.end());
    emit(n_.at, 1, {kernel_of(before, k.retain), kernel_of(rest, k.retain)});
    if (others != before) emit(n_.at, 1, {kernel_of(others, k.retain), kernel_of(below, k.retain)});
  }
}

// As one kernel, where the first of the two is and where the second is.
void FreeMoves::merge(std::size_t other) {
  const Kernel& a = n_.plan[n_.at];
  const Kernel& b = n_.plan[other];
  if (a.count + b.count > p_.most_nodes()) return;
  IdList nodes = a.nodes;
  nodes.insert(nodes.end(), b.nodes.begin(), b.nodes.end());
  const std::size_t removed = other - n_.at + 1;
  IdList both = b.retain;
  if (removed > 2) join(both, a.retain);
  const Kernel merged = kernel_of(nodes, both);
  std::vector<Kernel> between(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at + 1),
                              n_.plan.begin() + static_cast<std::ptrdiff_t>(other));
  std::vector<Kernel> late = between;
  for (Kernel& k : between) join(k.retain, b.retain);
  between.insert(between.begin(), merged);
  emit(n_.at, removed, std::move(between));
  if (late.empty()) return;
  late.push_back(merged);
  emit(n_.at, removed, std::move(late));
}

// One node of the later kernel joins the earlier one, one of the earlier joins the later.
void FreeMoves::shift_nodes(std::size_t other) {
  const Kernel& a = n_.plan[n_.at];
  const Kernel& b = n_.plan[other];
  const auto emit_pair = [&](const IdList& first, const IdList& second) {
    std::vector<Kernel> added(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at),
                              n_.plan.begin() + static_cast<std::ptrdiff_t>(other + 1));
    added.front() = kernel_of(first, a.retain);
    added.back() = kernel_of(second, b.retain);
    emit(n_.at, other - n_.at + 1, std::move(added));
  };
  const auto without = [](const IdList& nodes, int at) {
    IdList rest;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(rest), [&](int node) { return node != at; });
    return rest;
  };
  const int depth = p_.most_nodes();
  for (int at : b.nodes) {
    if (b.count < 2 || a.count >= depth || !reads(at, a.nodes)) continue;
    IdList larger = a.nodes;
    larger.push_back(at);
    emit_pair(larger, without(b.nodes, at));
  }
  for (int at : a.nodes) {
    if (a.count < 2 || b.count >= depth) continue;
    const auto uses = p_.graph_.consumers(p_.node_at(at));
    const bool leaf = std::none_of(uses.begin(), uses.end(),
                                   [&](NodeId c) { return holds(a.nodes, p_.graph_.position(c)); });
    const bool feeds = std::any_of(uses.begin(), uses.end(),
                                   [&](NodeId c) { return holds(b.nodes, p_.graph_.position(c)); });
    if (!leaf || !feeds) continue;
    IdList larger = b.nodes;
    larger.push_back(at);
    emit_pair(without(a.nodes, at), larger);
  }
}

// A later kernel right behind this one, which it reads.
void FreeMoves::pull_behind(std::size_t other) {
  Kernel b = n_.plan[other];
  std::vector<Kernel> added(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at),
                            n_.plan.begin() + static_cast<std::ptrdiff_t>(other));
  for (std::size_t i = 1; i < added.size(); ++i) join(added[i].retain, b.retain);
  join(b.retain, added.front().retain);
  added.insert(added.begin() + 1, std::move(b));
  emit(n_.at, other - n_.at + 1, std::move(added));
}

// A later kernel right before this one.
void FreeMoves::pull_before(std::size_t other) {
  Kernel b = n_.plan[other];
  std::vector<Kernel> added(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at),
                            n_.plan.begin() + static_cast<std::ptrdiff_t>(other));
  for (Kernel& k : added) join(k.retain, b.retain);
  if (n_.at > 0) join(b.retain, n_.plan[n_.at - 1].retain);
  added.insert(added.begin(), std::move(b));
  emit(n_.at, other - n_.at + 1, std::move(added));
}

// This kernel right before its first reader.
void FreeMoves::push_back() {
  const Kernel& a = n_.plan[n_.at];
  const std::size_t end = std::min(n_.plan.size(), n_.at + reorder_reach);
  std::size_t reader = n_.at + 1;
  while (reader < end && !reads(n_.plan[reader], a)) ++reader;
  if (reader == end || reader < n_.at + 3) return;  // past one kernel: pull_before() of that one
  std::vector<Kernel> added(n_.plan.begin() + static_cast<std::ptrdiff_t>(n_.at + 1),
                            n_.plan.begin() + static_cast<std::ptrdiff_t>(reader));
  Kernel late = a;
  join(late.retain, added.back().retain);
  added.push_back(std::move(late));
  n_.out.push_back({.first = n_.at, .removed = added.size(), .added = std::move(added)});
}

}  // namespace fuselage::walk

// The optimum of a tiny grid problem under the mlsys rules by trying everything: every connected set of ops
// as the next kernel, every tensor set that it may retain, every granularity, raster and both snakes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "fuselage/grid/kernel_cost.h"

namespace fuselage::grid {

class BruteGrid {
 public:
  BruteGrid(const Instance& instance, const Rules& rules) : instance_(instance), pricer_(instance, rules) {
    for (unsigned mask = 1; mask < 1U << instance.op_count(); ++mask) {
      std::vector<OpId> ops;
      for (OpId op : instance.order())
        if (mask >> op & 1U) ops.push_back(op);
      Shape shape(instance, rules, ops);
      if (shape.legal()) groups_.push_back({mask, std::move(shape), {}});
    }
  }

  // Infinite if nothing can run.
  double optimum() {
    // Ops that have run, tensors in slow memory, tensors resident.
    using Node = std::tuple<unsigned, std::uint64_t, std::uint64_t>;
    std::map<Node, double> reached;
    std::priority_queue<std::pair<double, Node>, std::vector<std::pair<double, Node>>, std::greater<>> open;
    open.push({0, Node{}});
    reached[Node{}] = 0;
    while (!open.empty()) {
      const auto [cost, node] = open.top();
      open.pop();
      if (cost > reached[node]) continue;
      const auto [covered, stored, resident] = node;
      if (finished(covered, stored)) return cost;
      for (Group& group : groups_) {
        if (!available(group.shape, stored, resident)) continue;
        const std::size_t made = group.shape.made().size();
        for (std::uint64_t keep = 0; keep < std::uint64_t{1} << made; ++keep) {
          const double price = cheapest(group, resident, keep);
          if (!(price < infinity)) continue;
          std::uint64_t now_stored = stored;
          std::uint64_t now_resident = 0;
          for (std::size_t i = 0; i < made; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << group.shape.made()[i];
            if (keep >> i & 1U)
              now_resident |= bit;
            else if (group.shape.is_sink(i))
              now_stored |= bit;
          }
          const Node next{covered | group.mask, now_stored, now_resident};
          const auto [found, fresh] = reached.try_emplace(next, infinity);
          if (cost + price >= found->second) continue;
          found->second = cost + price;
          open.push({cost + price, next});
        }
      }
    }
    return infinity;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Group {
    unsigned mask;
    Shape shape;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::int64_t>, double> prices;
  };

  bool finished(unsigned covered, std::uint64_t stored) const {
    if (covered != (1U << instance_.op_count()) - 1) return false;
    for (TensorId t = 0; t < instance_.tensor_count(); ++t)
      if (instance_.is_output(t) && !(stored >> t & 1U)) return false;
    return true;
  }
  bool available(const Shape& shape, std::uint64_t stored, std::uint64_t resident) const {
    return std::all_of(shape.inputs().begin(), shape.inputs().end(), [&](const BoundaryInput& input) {
      return instance_.is_input(input.tensor) || ((stored | resident) >> input.tensor & 1U);
    });
  }

  // What is resident and not read takes room all the same.
  double cheapest(Group& group, std::uint64_t resident, std::uint64_t keep) {
    std::uint64_t read = 0;
    std::int64_t unread = 0;
    for (TensorId t = 0; t < instance_.tensor_count(); ++t) {
      if (!(resident >> t & 1U)) continue;
      bool found = false;
      for (std::size_t i = 0; i < group.shape.inputs().size(); ++i)
        if (group.shape.inputs()[i].tensor == t) {
          read |= std::uint64_t{1} << i;
          found = true;
        }
      if (!found) unread += instance_.tensor(t).size();
    }
    const auto [found, fresh] = group.prices.try_emplace({read, keep, unread}, infinity);
    if (fresh) found->second = price_all(group.shape, read, keep, unread);
    return found->second;
  }
  double price_all(const Shape& shape, std::uint64_t read, std::uint64_t keep, std::int64_t unread) const {
    double best = infinity;
    const Machine& machine = instance_.machine();
    const std::int64_t deepest = shape.has_matmul() ? std::min(shape.least_k(), machine.native_width) : 1;
    for (std::int64_t w = 1; w <= std::min(shape.width(), machine.native_width); ++w)
      for (std::int64_t h = 1; h <= std::min(shape.height(), machine.native_height); ++h)
        for (std::int64_t k = 1; k <= deepest; ++k)
          for (const Traversal traversal :
               {Traversal::raster, Traversal::row_snake, Traversal::column_snake}) {
            const KernelCost cost = pricer_.price(
                shape,
                {.granularity = {w, h, k}, .traversal = traversal, .resident = read, .retained = keep});
            if (cost.legal() && cost.working_set + unread <= machine.capacity)
              best = std::min(best, cost.latency);
          }
    return best;
  }

  const Instance& instance_;
  KernelPricer pricer_;
  std::vector<Group> groups_;
};

}  // namespace fuselage::grid

#include "mlsys_check.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fuselage/core/error.h"

namespace fuselage::grid::mlsys {
namespace {

using Found = std::optional<Violation>;

template <class... Args>
Found found(const KernelCheck& check, Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  return violation_of(fault, check.number, fmt::format(format, std::forward<Args>(args)...));
}

Found unknown_or_duplicate(const KernelCheck& check) {
  const int n = check.instance.op_count();
  std::set<OpId> seen;
  for (const OpId id : check.kernel.ops) {
    if (id < 0 || id >= n)
      return found(check, Fault::unknown_op, "op {} does not exist; expected ids from 0 to {}", id, n - 1);
    if (!seen.insert(id).second) return found(check, Fault::duplicate_op, "op {} is named twice", id);
  }
  return std::nullopt;
}

Found order(const KernelCheck& check, const std::map<OpId, std::size_t>& position) {
  for (const auto& [id, place] : position)
    for (const TensorId tensor : check.instance.op(id).inputs) {
      const auto producer = position.find(check.instance.producer(tensor));
      if (producer != position.end() && producer->second > place)
        return found(check, Fault::order, "op {} reads tensor {} and comes before op {}, which makes it", id,
                     tensor, producer->first);
    }
  return std::nullopt;
}

Found not_available(const KernelCheck& check, const std::map<OpId, std::size_t>& position) {
  for (const OpId id : check.kernel.ops)
    for (const TensorId tensor : check.instance.op(id).inputs) {
      if (check.instance.is_input(tensor) || position.contains(check.instance.producer(tensor))) continue;
      if (check.is_stored[static_cast<std::size_t>(tensor)]) continue;
      if (std::binary_search(check.resident.begin(), check.resident.end(), tensor)) continue;
      return found(check, Fault::not_available,
                   "op {} reads tensor {}, which no kernel before stored and the last one did not retain", id,
                   tensor);
    }
  return std::nullopt;
}

// The ops as sets that grow together.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

Found not_connected(const KernelCheck& check, const std::map<OpId, std::size_t>& position) {
  if (check.kernel.ops.empty()) return found(check, Fault::not_connected, "it has no ops");
  Sets sets(check.kernel.ops.size());
  std::map<TensorId, std::size_t> reader;
  for (const auto& [id, place] : position)
    for (const TensorId tensor : check.instance.op(id).inputs) {
      const auto producer = position.find(check.instance.producer(tensor));
      if (producer != position.end()) sets.join(place, producer->second);
      if (check.rules.co_consumers) sets.join(place, reader.try_emplace(tensor, place).first->second);
    }
  for (std::size_t i = 1; i < check.kernel.ops.size(); ++i)
    if (sets.root(i) != sets.root(0))
      return found(check, Fault::not_connected, "ops {} and {} are not linked through tensors {}",
                   check.kernel.ops[0], check.kernel.ops[i],
                   check.rules.co_consumers ? "that its ops make or read" : "made in it");
  return std::nullopt;
}

Found below_one(const KernelCheck& check) {
  const Granularity& tile = check.kernel.granularity;
  if (tile.w >= 1 && tile.h >= 1 && tile.k >= 1) return std::nullopt;
  return found(check, Fault::grid, "granularity [{}, {}, {}]; expected integers >= 1", tile.w, tile.h,
               tile.k);
}

Found different_sinks(const KernelCheck& check, const KernelParts& parts) {
  for (const TensorId sink : parts.sinks) {
    const Tensor& tensor = check.instance.tensor(sink);
    if (tensor.width != parts.grid.width || tensor.height != parts.grid.height)
      return found(check, Fault::grid, "its sinks {} and {} are {} x {} and {} x {}; expected one shape",
                   parts.sinks.front(), sink, parts.grid.width, parts.grid.height, tensor.width,
                   tensor.height);
  }
  return std::nullopt;
}

Found too_large(const KernelCheck& check, const KernelParts& parts) {
  const Granularity& tile = check.kernel.granularity;
  const Machine& machine = check.instance.machine();
  if (tile.w > machine.native_width || tile.h > machine.native_height)
    return found(check, Fault::super_native, "tile {} x {} exceeds native {} x {}", tile.w, tile.h,
                 machine.native_width, machine.native_height);
  const auto is_matmul = [](const Member& member) { return member.kind == OpKind::matmul; };
  const bool has_matmul = std::any_of(parts.members.begin(), parts.members.end(), is_matmul);
  if (has_matmul && tile.k > machine.native_width)
    return found(check, Fault::super_native_k, "k {} exceeds native width {}", tile.k, machine.native_width);
  for (const Member& member : parts.members)
    if (is_matmul(member) && tile.k > member.reduction)
      return found(check, Fault::k_above_op_k, "k {} exceeds K {} of op {}", tile.k, member.reduction,
                   member.id);
  return std::nullopt;
}

Found prologue(const KernelCheck& check, const KernelParts& parts) {
  if (parts.k_steps == 1) return std::nullopt;
  const Granularity& tile = check.kernel.granularity;
  for (const Member& member : parts.members) {
    if (member.kind != OpKind::matmul) continue;
    for (std::size_t side = 0; side < member.inputs.size(); ++side) {
      const MemberInput& input = member.inputs[side];
      if (input.is_outside()) continue;
      const Member& feeder = parts.members[static_cast<std::size_t>(input.producer)];
      if (feeder.kind != OpKind::pointwise || (side == 0 ? tile.w : tile.h) >= member.reduction) continue;
      return found(check, Fault::prologue,
                   "op {} makes the {} of op {} under split-k with {} {}; expected its K, {}, or more",
                   feeder.id, side == 0 ? "LHS" : "RHS", member.id, side == 0 ? 'w' : 'h',
                   side == 0 ? tile.w : tile.h, member.reduction);
    }
  }
  return std::nullopt;
}

Found retain(const KernelCheck& check) {
  const Kernel& kernel = check.kernel;
  const auto is_made = [&](TensorId tensor) {
    if (tensor < 0 || tensor >= check.instance.tensor_count() || check.instance.is_input(tensor))
      return false;
    const OpId producer = check.instance.producer(tensor);
    return std::find(kernel.ops.begin(), kernel.ops.end(), producer) != kernel.ops.end();
  };
  for (const TensorId tensor : kernel.retain)
    if (!is_made(tensor))
      return found(check, Fault::retain, "retains tensor {}, which it does not make", tensor);
  return std::nullopt;
}

Found traversal(const KernelCheck& check, const KernelParts& parts) {
  if (!check.kernel.traversal) return std::nullopt;
  const std::vector<std::int64_t>& tiles = *check.kernel.traversal;
  if (static_cast<std::int64_t>(tiles.size()) != parts.tiles)
    return found(check, Fault::traversal, "the traversal has {} tiles; expected {}", tiles.size(),
                 parts.tiles);
  std::vector<bool> seen(tiles.size());
  for (const std::int64_t tile : tiles) {
    if (tile < 0 || tile >= parts.tiles)
      return found(check, Fault::traversal, "the traversal names tile {}; expected each from 0 to {} once",
                   tile, parts.tiles - 1);
    if (seen[static_cast<std::size_t>(tile)])
      return found(check, Fault::traversal, "the traversal names tile {} twice", tile);
    seen[static_cast<std::size_t>(tile)] = true;
  }
  return std::nullopt;
}

}  // namespace

Violation violation_of(Fault fault, int kernel, std::string_view message) {
  return {.fault = fault, .kernel = kernel, .message = fmt::format("kernel {}: {}", kernel, message)};
}

std::optional<Violation> ops_fault(const KernelCheck& check) {
  if (auto fault = unknown_or_duplicate(check)) return fault;
  std::map<OpId, std::size_t> position;
  for (const OpId id : check.kernel.ops) position.try_emplace(id, position.size());
  if (auto fault = order(check, position)) return fault;
  if (auto fault = not_available(check, position)) return fault;
  if (auto fault = not_connected(check, position)) return fault;
  return below_one(check);
}

std::optional<Violation> parts_fault(const KernelCheck& check, const KernelParts& parts) {
  if (auto fault = different_sinks(check, parts)) return fault;
  if (auto fault = too_large(check, parts)) return fault;
  if (auto fault = prologue(check, parts)) return fault;
  if (auto fault = retain(check)) return fault;
  return traversal(check, parts);
}

}  // namespace fuselage::grid::mlsys

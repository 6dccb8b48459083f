#include "least_charge.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "arithmetic.h"
#include "links.h"
#include "part_front.h"

namespace fuselage::grid {
namespace {

constexpr std::size_t most_users = 64;  // matmuls that may read an op's output: beyond, any part will do
constexpr double infinity = std::numeric_limits<double>::infinity();

class Charges {
 public:
  Charges(const Instance& instance, const Rules& rules)
      : instance_(instance),
        rules_(rules),
        machine_(instance.machine()),
        links_(instance, rules),
        fronts_(instance.machine()) {}

  // Ops of different sets are never in one kernel.
  const std::vector<std::vector<OpId>>& sets() const { return links_.sets(); }

  // None: `stop` said so before all were known.
  std::optional<std::vector<double>> all(double alpha, const std::function<bool()>& stop) {
    alpha_ = alpha;
    std::vector<double> charges;
    for (OpId op = 0; op < instance_.op_count(); ++op) {
      if (stop && stop()) return std::nullopt;
      charges.push_back(charge(op));
    }
    return charges;
  }

 private:
  // How an op takes part in a kernel.
  enum class Part : std::uint8_t {
    sink,    // a root whose output nobody in the kernel reads
    root,    // a root; pointwise ops in the kernel may read it
    lhs,     // makes slices of a root matmul's LHS, perhaps through pointwise ops
    rhs,     // of its RHS
    deeper,  // makes what an upstream matmul reads
  };

  double cost(double compute, double traffic) const {
    return alpha_ * compute + (1 - alpha_) * traffic / machine_.bandwidth;
  }
  double size(TensorId t) const { return static_cast<double>(instance_.tensor(t).size()); }
  bool is_matmul(OpId op) const { return instance_.op(op).kind == OpKind::matmul; }
  std::int64_t reduction(OpId op) const { return instance_.tensor(instance_.op(op).inputs[0]).width; }
  const Tensor& out(OpId op) const { return instance_.tensor(instance_.op(op).outputs[0]); }
  bool can_be_resident(TensorId t) const { return instance_.tensor(t).size() <= machine_.capacity; }

  bool may_hand_over(OpId maker, TensorId t, OpId reader) const {
    return links_.may_hand_over(maker, t, reader);
  }

  // A tensor that each reader loads from slow memory.
  bool must_be_loaded(TensorId t, OpId reader) const {
    if (instance_.is_input(t)) return true;
    return !can_be_resident(t) && !may_hand_over(instance_.producer(t), t, reader);
  }

  // Readers of t that may share a load with `op` taking this part, itself included.
  int sharers(OpId op, Part part, TensorId t) {
    const bool sink = part == Part::sink;
    const std::uint64_t question =
        2 * (static_cast<std::uint64_t>(op) * static_cast<std::uint64_t>(instance_.tensor_count()) +
             static_cast<std::uint64_t>(t)) +
        (sink ? 1 : 0);
    const auto [found, fresh] = sharers_.try_emplace(question, 0);
    if (fresh)
      for (OpId reader : instance_.consumers(t))
        found->second += links_.may_meet(op, reader, sink ? op : no_op);
    return found->second;
  }

  // Elements of t that count as loaded by `op`.
  double loads(OpId op, Part part, TensorId t) { return operand(op, part, t, false).loads(1); }
  // Must the kernel make room for slices of the operand? If it comes from outside, or is resident (whole);
  // not if it is made inside. `feeds`: the op makes slices for a matmul, so that a matmul behind it is
  // deeper.
  bool takes_room(OpId op, TensorId t, bool feeds = false) const {
    if (must_be_loaded(t, op)) return true;
    const OpId maker = instance_.producer(t);
    if (!feeds || !is_matmul(maker)) return false;
    const TensorId whole = instance_.op(maker).inputs[instance_.op(op).inputs[0] == t ? 1 : 0];
    return must_be_loaded(whole, maker) && !can_be_resident(whole);
  }

  double matmul_compute(OpId op, double rows, double columns) const {
    const double depth = rules_.compute == Compute::k ? 1
                                                      : static_cast<double>(reduction(op)) /
                                                            static_cast<double>(machine_.native_width);
    return instance_.op(op).base_cost * depth * rows * columns;
  }

  Operand operand(OpId op, Part part, TensorId t, bool feeds) {
    const bool loaded = must_be_loaded(t, op);
    return {.loaded = loaded,
            .takes_room = takes_room(op, t, feeds),
            .readers = loaded ? static_cast<double>(sharers(op, part, t)) : 1.0,
            .size = size(t)};
  }

  // `beside`: base cost of a pointwise root that runs on the same tiles.
  double as_root(OpId op, Part part, double beside = 0) {
    const auto& inputs = instance_.op(op).inputs;
    return fronts_.least(RootPart{.height = out(op).height,
                                  .width = out(op).width,
                                  .reduction = reduction(op),
                                  .compute = matmul_compute(op, 1, 1),
                                  .beside = beside,
                                  .square = inputs[0] == inputs[1],
                                  .once = part == Part::root && may_feed_matmul(op),
                                  .lhs = operand(op, part, inputs[0], false),
                                  .rhs = operand(op, part, inputs[1], false)},
                         alpha_);
  }

  // Sets readers, only_alike and room: who else in the kernel may read the moving operand.
  void share(OperandPart& in, OpId op, OpId user, TensorId moving) {
    const std::size_t place = in.makes_lhs ? 1 : 0;
    in.moving.readers = 1;
    for (OpId other : instance_.consumers(moving)) {
      if (other == op || !may_meet_with(op, user, other)) continue;
      const auto& inputs = instance_.op(other).inputs;
      const bool alike = is_matmul(other) && inputs[place] == moving && inputs[1 - place] != moving &&
                         !has_shape(other, out(user)) && !can_be_deeper(other, in.makes_lhs);
      in.only_alike = in.only_alike && alike;
      const std::int64_t room = alike && takes_room(other, inputs[1 - place], true) ? reduction(other) : 0;
      in.room = in.moving.readers == 1 ? room : std::min(in.room, room);
      ++in.moving.readers;
    }
  }
  bool has_shape(OpId op, const Tensor& shape) const {
    return out(op).height == shape.height && out(op).width == shape.width;
  }
  // May the three be in one kernel, the second as its root matmul that reads the first?
  bool may_meet_with(OpId op, OpId user, OpId other) {
    bool hands_on = false;  // a root matmul hands something over only beside a pointwise root
    for (TensorId t : instance_.op(user).outputs)
      for (OpId reader : instance_.consumers(t)) hands_on = hands_on || !is_matmul(reader);
    return links_.may_meet(op, other, hands_on ? no_op : user);
  }

  // Makes slices of an operand of the root matmul `user`, again for each of its tiles.
  double as_operand(OpId op, Part part, OpId user) {
    const auto& inputs = instance_.op(op).inputs;
    const bool lhs = part == Part::lhs;
    const TensorId moving = inputs[lhs ? 1 : 0];
    const TensorId resting = inputs[lhs ? 0 : 1];
    const auto native = static_cast<double>(lhs ? machine_.native_width : machine_.native_height);
    OperandPart in{.height = out(user).height,
                   .width = out(user).width,
                   .steps = reduction(user),
                   .reduction = reduction(op),
                   .makes_lhs = lhs,
                   .compute = matmul_compute(op, 1, static_cast<double>(reduction(user)) / native),
                   .resting = operand(op, part, resting, true),
                   .moving = operand(op, part, moving, true),
                   .square = moving == resting,
                   .once = !has_one_demand(op)};
    share(in, op, user, moving);
    return fronts_.least(in, alpha_);
  }

  // Rows or columns over their full length, for an upstream matmul: one operand is held whole.
  bool can_be_deeper(OpId op, bool makes_rows) const {
    const TensorId whole = instance_.op(op).inputs[makes_rows ? 1 : 0];
    return !takes_room(op, whole) || can_be_resident(whole);
  }
  double as_deeper(OpId op, bool makes_rows) {
    return can_be_deeper(op, makes_rows) ? in_any_part(op) : infinity;
  }
  // No part costs less: all of the output once, and what must be loaded once.
  double in_any_part(OpId op) {
    const auto& inputs = instance_.op(op).inputs;
    double traffic = loads(op, Part::deeper, inputs[0]);
    if (inputs[0] != inputs[1]) traffic += loads(op, Part::deeper, inputs[1]);
    return cost(least_compute(op), traffic);
  }
  // Of a matmul in any part: all of its output once, at native size.
  double least_compute(OpId op) const {
    return matmul_compute(op,
                          static_cast<double>(out(op).height) / static_cast<double>(machine_.native_height),
                          static_cast<double>(out(op).width) / static_cast<double>(machine_.native_width));
  }

  // The matmuls that may read the op's output inside a kernel, perhaps through pointwise ops.
  struct User {
    OpId op = no_op;
    bool lhs = false;
    bool rhs = false;
  };
  // False if there are very many.
  bool list_users(OpId op, std::vector<User>& users) const {
    std::vector<OpId> open = {op};
    std::unordered_set<OpId> seen;
    for (std::size_t i = 0; i < open.size(); ++i)
      for (TensorId t : instance_.op(open[i]).outputs)
        for (OpId reader : instance_.consumers(t)) {
          if (!may_hand_over(open[i], t, reader)) continue;
          const auto& inputs = instance_.op(reader).inputs;
          // A matmul may be reached on both sides, by different ways.
          if (is_matmul(reader))
            users.push_back({reader, inputs[0] == t, inputs[1] == t});
          else if (links_.may_feed_matmul(reader) && seen.insert(reader).second)
            open.push_back(reader);
          if (users.size() > most_users || open.size() > 4 * most_users) return false;
        }
    return true;
  }
  bool may_feed_matmul(OpId op) const { return links_.may_feed_matmul(op); }

  // Is the op's output read by one op, and that one's by one, up to a matmul that reads it on one side? Then
  // nothing else in a kernel can ask for slices of the same operands.
  bool has_one_demand(OpId op) const {
    for (;;) {
      const auto& outputs = instance_.op(op).outputs;
      if (outputs.size() != 1 || instance_.consumers(outputs[0]).size() != 1) return false;
      const OpId reader = instance_.consumers(outputs[0])[0];
      const auto& inputs = instance_.op(reader).inputs;
      if (is_matmul(reader)) return inputs[0] != inputs[1];
      op = reader;
    }
  }

  // The base cost of a pointwise op counts with the first matmul that it reads.
  double owned(OpId op, OpId reader) const {
    for (TensorId t : instance_.op(reader).inputs) {
      const OpId maker = instance_.producer(t);
      if (maker == no_op || !is_matmul(maker)) continue;
      return maker == op ? instance_.op(reader).base_cost : 0;
    }
    return 0;
  }

  // The op's cost where `reader` reads its output in the same kernel.
  double inside(OpId op, OpId reader) {
    double best = infinity;
    std::vector<User> users;
    if (is_matmul(reader)) {
      const auto& inputs = instance_.op(reader).inputs;
      const TensorId t = instance_.op(op).outputs[0];
      users.push_back({reader, inputs[0] == t, inputs[1] == t});
    } else {
      best = as_root(op, Part::root, owned(op, reader));
      if (!list_users(reader, users)) return std::min(best, in_any_part(op));
    }
    for (const User& user : users) {
      const bool upstream = may_feed_matmul(user.op);
      if (user.lhs) best = std::min(best, as_operand(op, Part::lhs, user.op));
      if (user.rhs) best = std::min(best, as_operand(op, Part::rhs, user.op));
      if (upstream && user.lhs) best = std::min(best, as_deeper(op, true));
      if (upstream && user.rhs) best = std::min(best, as_deeper(op, false));
    }
    return best;
  }

  // What `reader` loads of t, at least, if it comes from slow memory.
  double loaded_by(OpId reader, TensorId t) const {
    if (!is_matmul(reader) || instance_.consumers(t).size() > 1) return size(t);
    const auto& inputs = instance_.op(reader).inputs;
    if (inputs[0] == inputs[1] || reduction(reader) <= machine_.native_width || may_feed_matmul(reader))
      return size(t);
    const Tensor& grid = out(reader);
    return size(t) * static_cast<double>(inputs[0] == t ? ceil_div(grid.width, machine_.native_width)
                                                        : ceil_div(grid.height, machine_.native_height));
  }

  double charge(OpId op) {
    const Op& o = instance_.op(op);
    double stored = 0;    // of outputs that are stored in any case, elements
    bool forced = false;  // is the output?
    for (TensorId t : o.outputs) {
      bool out_in_any_case = instance_.is_output(t);
      for (OpId reader : instance_.consumers(t))
        out_in_any_case = out_in_any_case || must_be_loaded(t, reader);
      if (out_in_any_case) stored += size(t);
      forced = forced || out_in_any_case;
    }
    if (o.kind == OpKind::pointwise) return pointwise(op) + cost(0, stored);
    if (o.outputs.size() > 1) return cost(least_compute(op), stored);
    const TensorId t = o.outputs[0];
    const auto readers = instance_.consumers(t);
    if (readers.empty()) return as_root(op, Part::sink) + cost(0, stored);
    // Stored: by a kernel of which it is a sink; and each reader that is not forced to load it does so or has
    // it made again.
    double handed = 0;
    for (OpId reader : readers)
      if (!must_be_loaded(t, reader)) {
        double least = std::min(cost(0, loaded_by(reader, t)), inside(op, reader));
        if (can_be_resident(t)) least = 0;
        handed = std::max(handed, least);
      }
    const double with_store = as_root(op, Part::sink) + cost(0, size(t)) + handed;
    if (forced) return with_store;
    // Never stored: every reader has it inside, or finds it in fast memory.
    double without = 0;
    for (OpId reader : readers) without = std::max(without, inside(op, reader));
    if (can_be_resident(t)) without = std::min(without, any_part(op));
    return std::min(with_store, without);
  }

  double any_part(OpId op) {
    double best = as_root(op, Part::sink);
    for (TensorId t : instance_.op(op).outputs)
      for (OpId reader : instance_.consumers(t))
        if (may_hand_over(op, t, reader)) best = std::min(best, inside(op, reader));
    return best;
  }

  double pointwise(OpId op) {
    const Tensor& tensor = out(op);
    const double compute =
        instance_.op(op).base_cost * static_cast<double>(ceil_div(tensor.height, machine_.native_height) *
                                                         ceil_div(tensor.width, machine_.native_width));
    double traffic = 0;
    std::unordered_set<TensorId> named;
    for (TensorId t : instance_.op(op).inputs)
      if (named.insert(t).second) traffic += loads(op, Part::root, t);
    return cost(compute, traffic);
  }

  const Instance& instance_;
  const Rules& rules_;
  const Machine& machine_;
  Links links_;
  PartFronts fronts_;
  std::unordered_map<std::uint64_t, int> sharers_;  // by op, tensor and whether the op is a sink
  double alpha_ = 0;
};

}  // namespace

std::vector<double> least_charges(const Instance& instance, const Rules& rules,
                                  const std::function<bool()>& stop) {
  std::vector<std::vector<double>> all;
  Charges charges(instance, rules);
  for (int step = 0; step <= 20; ++step) {
    auto of_alpha = charges.all(step / 20.0, stop);
    if (!of_alpha) break;
    all.push_back(*std::move(of_alpha));
  }
  std::vector<double> best(static_cast<std::size_t>(instance.op_count()), 0.0);
  for (const std::vector<OpId>& set : charges.sets()) {
    double most = -1;
    for (const std::vector<double>& of_alpha : all) {
      double sum = 0;
      for (OpId op : set) sum += of_alpha[static_cast<std::size_t>(op)];
      if (sum <= most) continue;
      most = sum;
      for (OpId op : set) best[static_cast<std::size_t>(op)] = of_alpha[static_cast<std::size_t>(op)];
    }
  }
  return best;
}

}  // namespace fuselage::grid

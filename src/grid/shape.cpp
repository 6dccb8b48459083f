#include "fuselage/grid/shape.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace fuselage::grid {

// Works out the demands of a set of ops, consumers before producers.
struct Shape::Builder {
  // What consumers inside the group ask of an op's output.
  struct Demand {
    Region region = {};
    Phase phase = last_step;
    // An operand of a root matmul, as it is or handed down by pointwise ops: it costs what it is long. What
    // an upstream matmul asks for costs whole native tiles.
    bool is_operand = false;

    friend bool operator==(const Demand&, const Demand&) = default;
  };

  const Instance& instance;
  const Rules& rules;
  Shape& shape;
  std::unordered_map<TensorId, std::size_t> maker = {};     // tensor -> place of the op that makes it
  std::unordered_map<TensorId, std::size_t> input_of = {};  // tensor -> place among the boundary inputs
  std::vector<std::vector<Demand>> demands = {};            // by place of the op: of matmuls it feeds
  std::vector<char> root = {};

  const Op& op(std::size_t place) const { return instance.op(shape.ops_[place]); }

  void build() {
    list_tensors();
    find_sinks();
    shape.legal_ = shape.legal_ && connected();
    if (rules.set != RuleSet::mlsys) return;
    find_roots();
    demands.resize(shape.ops_.size());
    for (std::size_t place = shape.ops_.size(); place-- > 0;) visit(place);
  }

  void list_tensors() {
    for (std::size_t place = 0; place < shape.ops_.size(); ++place)
      for (TensorId t : op(place).outputs) {
        maker[t] = place;
        shape.made_.push_back(t);
      }
    for (std::size_t place = 0; place < shape.ops_.size(); ++place)
      for (TensorId t : op(place).inputs)
        if (!maker.contains(t) && input_of.try_emplace(t, shape.inputs_.size()).second)
          shape.inputs_.push_back(
              {.tensor = t, .height = instance.tensor(t).height, .width = instance.tensor(t).width});
    for (std::size_t place = 0; place < shape.ops_.size(); ++place) note_limits(op(place));
  }

  void note_limits(const Op& op) {
    if (op.kind != OpKind::matmul) return;
    const std::int64_t k = instance.tensor(op.inputs[0]).width;
    shape.least_k_ = shape.least_k_ == 0 ? k : std::min(shape.least_k_, k);
    const auto pointwise_inside = [&](TensorId t) {
      const auto found = maker.find(t);
      return found != maker.end() && this->op(found->second).kind == OpKind::pointwise;
    };
    if (pointwise_inside(op.inputs[0])) shape.split_width_ = std::max(shape.split_width_, k);
    if (pointwise_inside(op.inputs[1])) shape.split_height_ = std::max(shape.split_height_, k);
  }

  // A sink is made here and read by nobody here.
  void find_sinks() {
    shape.legal_ = true;
    shape.sink_.assign(shape.made_.size(), 1);
    for (std::size_t place = 0; place < shape.ops_.size(); ++place)
      for (TensorId t : op(place).inputs) {
        const auto found = std::find(shape.made_.begin(), shape.made_.end(), t);
        if (found != shape.made_.end())
          shape.sink_[static_cast<std::size_t>(found - shape.made_.begin())] = 0;
      }
    for (std::size_t i = 0; i < shape.made_.size(); ++i) {
      if (!shape.sink_[i]) continue;
      const Tensor& tensor = instance.tensor(shape.made_[i]);
      if (shape.sinks_++ == 0) {
        shape.height_ = tensor.height;
        shape.width_ = tensor.width;
      }
      if (tensor.height != shape.height_ || tensor.width != shape.width_) shape.legal_ = false;
    }
    if (rules.set != RuleSet::mlsys) cover_all();
  }

  // The grid of fusionops covers all that is made, of whatever shapes.
  void cover_all() {
    shape.legal_ = true;
    for (const TensorId t : shape.made_) {
      shape.height_ = std::max(shape.height_, instance.tensor(t).height);
      shape.width_ = std::max(shape.width_, instance.tensor(t).width);
    }
  }

  // Everything must be linked; a link is a tensor with both ends in the group.
  bool connected() const {
    std::vector<std::size_t> leader(shape.ops_.size());
    std::iota(leader.begin(), leader.end(), 0);
    const auto find = [&](std::size_t a) {
      while (leader[a] != a) a = leader[a] = leader[leader[a]];
      return a;
    };
    std::vector<std::size_t> first_reader(shape.inputs_.size(), shape.ops_.size());
    for (std::size_t place = 0; place < shape.ops_.size(); ++place)
      for (TensorId t : op(place).inputs) {
        if (const auto found = maker.find(t); found != maker.end()) {
          leader[find(place)] = find(found->second);
        } else if (rules.co_consumers && rules.set == RuleSet::mlsys) {
          std::size_t& reader = first_reader[input_of.at(t)];
          if (reader == shape.ops_.size()) reader = place;
          leader[find(place)] = find(reader);
        }
      }
    for (std::size_t place = 1; place < leader.size(); ++place)
      if (find(place) != find(0)) return false;
    return true;
  }

  // Ops with a sink among their outputs, and those that feed a pointwise root.
  void find_roots() {
    root.assign(shape.ops_.size(), 0);
    for (std::size_t i = 0; i < shape.made_.size(); ++i)
      if (shape.sink_[i]) root[maker.at(shape.made_[i])] = 1;
    for (std::size_t place = shape.ops_.size(); place-- > 0;) {
      if (!root[place] || op(place).kind != OpKind::pointwise) continue;
      for (TensorId t : op(place).inputs)
        if (const auto found = maker.find(t); found != maker.end()) root[found->second] = 1;
    }
  }

  void visit(std::size_t place) {
    std::vector<Demand>& asked = demands[place];
    // Several demands on one op are one where they coincide, which depends on the iteration.
    if (asked.size() + static_cast<std::size_t>(root[place]) > 1) shape.closed_ = false;
    if (op(place).outputs.size() > 1 && !asked.empty()) shape.closed_ = false;
    if (root[place]) visit_root(place);
    for (const Demand& demand : asked) {
      if (op(place).kind == OpKind::matmul)
        visit_upstream(place, demand);
      else
        visit_pointwise(place, demand);
    }
  }

  void visit_root(std::size_t place) {
    const Op& o = op(place);
    if (o.kind == OpKind::pointwise) {
      shape.works_.push_back({.scale = o.base_cost, .phase = last_step});
      for (TensorId t : o.inputs)
        if (!maker.contains(t)) ask(t, {{Extent::tile, Extent::tile}, last_step});
      return;
    }
    const std::int64_t k = instance.tensor(o.inputs[0]).width;
    const Phase phase = reduction(k);
    ++shape.root_matmuls_;
    shape.works_.push_back({.scale = o.base_cost / length_unit(k), .per_length = true, .phase = phase});
    ask(o.inputs[0], {{Extent::tile, Extent::slice}, phase, true});
    ask(o.inputs[1], {{Extent::slice, Extent::tile}, phase, true});
  }

  // A matmul that feeds a matmul: it makes what is demanded, over its full K.
  void visit_upstream(std::size_t place, const Demand& demand) {
    const Op& o = op(place);
    const std::int64_t k = instance.tensor(o.inputs[0]).width;
    Work work = work_on(o, demand);
    work.scale = o.base_cost * static_cast<double>(k) / length_unit(k);
    if (demand.is_operand && demand.region.rows == Extent::slice) work.row_part = Work::Part::fraction;
    if (demand.is_operand && demand.region.columns == Extent::slice) work.column_part = Work::Part::fraction;
    shape.works_.push_back(work);
    ask(o.inputs[0], {{demand.region.rows, Extent::whole}, demand.phase});
    ask(o.inputs[1], {{Extent::whole, demand.region.columns}, demand.phase});
  }

  // Before a matmul: once a tile on the strip that all k-steps need if it starts the kernel, else with each.
  void visit_pointwise(std::size_t place, Demand demand) {
    const Op& o = op(place);
    const bool prologue =
        std::none_of(o.inputs.begin(), o.inputs.end(), [&](TensorId t) { return maker.contains(t); });
    if (prologue) {
      if (demand.region.rows == Extent::slice) demand.region.rows = Extent::whole;
      if (demand.region.columns == Extent::slice) demand.region.columns = Extent::whole;
    }
    Work work = work_on(o, demand);
    work.scale = o.base_cost;
    work.first_only = prologue;
    const bool split = demand.region.rows == Extent::slice || demand.region.columns == Extent::slice;
    if (!prologue && split) {
      work.per_length = true;
      work.scale /= static_cast<double>(shape.reductions_[static_cast<std::size_t>(demand.phase)]);
    }
    shape.works_.push_back(work);
    for (TensorId t : o.inputs) ask(t, demand);
  }

  Work work_on(const Op& o, const Demand& demand) const {
    const Tensor& out = instance.tensor(o.outputs[0]);
    return {.row_part = Work::Part::tiles,
            .column_part = Work::Part::tiles,
            .region = demand.region,
            .height = out.height,
            .width = out.width,
            .phase = demand.phase};
  }

  // A k-step of this length costs the base cost once.
  double length_unit(std::int64_t k) const {
    return static_cast<double>(rules.compute == Compute::native_k ? instance.machine().native_width : k);
  }

  Phase reduction(std::int64_t k) {
    const auto found = std::find(shape.reductions_.begin(), shape.reductions_.end(), k);
    if (found == shape.reductions_.end()) {
      shape.reductions_.push_back(k);
      return static_cast<Phase>(shape.reductions_.size() - 1);
    }
    return static_cast<Phase>(found - shape.reductions_.begin());
  }

  void ask(TensorId tensor, const Demand& demand) {
    if (const auto found = maker.find(tensor); found != maker.end()) {
      std::vector<Demand>& asked = demands[found->second];
      if (std::find(asked.begin(), asked.end(), demand) == asked.end()) asked.push_back(demand);
      return;
    }
    BoundaryInput& input = shape.inputs_[input_of.at(tensor)];
    const Need need{demand.region, demand.phase};
    // A tile of a tensor that is no copy of the grid is cut otherwise.
    if (need.region.rows == Extent::tile && input.height != shape.height_) shape.closed_ = false;
    if (need.region.columns == Extent::tile && input.width != shape.width_) shape.closed_ = false;
    std::vector<Need>& needs = input.needs;
    if (std::find(needs.begin(), needs.end(), need) == needs.end()) needs.push_back(need);
  }
};

Shape::Shape(const Instance& instance, const Rules& rules, std::span<const OpId> ops)
    : ops_(ops.begin(), ops.end()) {
  Builder{.instance = instance, .rules = rules, .shape = *this}.build();
  if (reductions_.size() > 64) closed_ = false;
}

}  // namespace fuselage::grid

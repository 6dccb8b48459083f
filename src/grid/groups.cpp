#include "fuselage/grid/groups.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "arithmetic.h"

namespace fuselage::grid {
namespace {

// All that pricing reads of a shape, as bytes: equal texts, equal prices.
class Signature {
 public:
  Signature(const Instance& instance, const Rules& rules, const Shape& shape) {
    put(shape.height());
    put(shape.width());
    put(shape.sinks());
    put(shape.least_k());
    put(shape.split_width());
    put(shape.split_height());
    put(shape.root_matmuls());
    put((shape.legal() ? 1 : 0) + (shape.closed() ? 2 : 0));
    // Without a closed form the kernel is run: then only the very same ops are alike.
    if (!shape.closed())
      for (OpId op : shape.ops()) put(op);
    for (std::int64_t k : shape.reductions()) put(k);
    for (std::size_t i = 0; i < shape.made().size(); ++i) {
      const Tensor& tensor = instance.tensor(shape.made()[i]);
      put(shape.is_sink(i) ? 1 : 0);
      put(tensor.height);
      put(tensor.width);
    }
    put(-1);
    for (const BoundaryInput& input : shape.inputs()) put_input(input);
    put(-2);
    for (const Work& work : shape.works()) put_work(work);
    if (rules.set != RuleSet::mlsys) put_ops(instance, shape);
  }
  std::string take() { return std::move(text_); }

 private:
  template <class T>
  void put(T value) {
    text_.append(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }
  // Ops as they are, but for the names of their tensors.
  void put_ops(const Instance& instance, const Shape& shape) {
    for (const OpId id : shape.ops()) {
      const Op& op = instance.op(id);
      put(static_cast<char>(op.kind));
      put(op.base_cost);
      put(op.outputs.size());
      put(op.inputs.size());
      for (const TensorId t : op.inputs) put(place_of(shape, t));
    }
  }
  // Among what the group makes, or, below 0, among what it reads.
  static std::ptrdiff_t place_of(const Shape& shape, TensorId t) {
    const auto made = std::find(shape.made().begin(), shape.made().end(), t);
    if (made != shape.made().end()) return made - shape.made().begin();
    const auto read = std::find_if(shape.inputs().begin(), shape.inputs().end(),
                                   [&](const BoundaryInput& input) { return input.tensor == t; });
    return shape.inputs().begin() - read - 1;
  }
  void put_region(const Region& region, Phase phase) {
    put(static_cast<char>(region.rows));
    put(static_cast<char>(region.columns));
    put(static_cast<char>(phase));
  }
  void put_input(const BoundaryInput& input) {
    put(input.height);
    put(input.width);
    put(input.needs.size());
    for (const Need& need : input.needs) put_region(need.region, need.phase);
  }
  void put_work(const Work& work) {
    put(work.scale);
    put(static_cast<char>(work.row_part));
    put(static_cast<char>(work.column_part));
    put_region(work.region, work.phase);
    put(work.height);
    put(work.width);
    put(static_cast<char>((work.per_length ? 1 : 0) + (work.first_only ? 2 : 0)));
  }

  std::string text_;
};

}  // namespace

GroupClass::GroupClass(Shape shape) : shape_(std::move(shape)) {
  for (std::size_t i = 0; i < std::min<std::size_t>(64, shape_.made().size()); ++i)
    if (shape_.is_sink(i)) sinks_ |= std::uint64_t{1} << i;
}

KernelPricer::Best GroupClass::best(const KernelPricer& pricer, std::uint64_t resident,
                                    std::uint64_t retained, std::int64_t beside) const {
  // Under fusionops to retain what the group reads itself costs nothing now.
  if (pricer.rules().set != RuleSet::mlsys) retained &= sinks_;
  const KernelPricer::Best alone = find(pricer, {resident, retained, 0, {}});
  if (beside == 0 || !alone.cost.legal()) return alone;
  if (beside <= pricer.instance().machine().capacity - alone.cost.working_set) return alone;
  return find(pricer, {resident, retained, beside, {}});
}

KernelPricer::Best GroupClass::find(const KernelPricer& pricer, const Entry& wanted) const {
  const auto look = [&] {
    return std::find_if(known_.begin(), known_.end(), [&](const Entry& e) {
      return e.resident == wanted.resident && e.retained == wanted.retained && e.beside == wanted.beside;
    });
  };
  {
    const tbb::spin_mutex::scoped_lock lock(mutex_);
    if (const auto found = look(); found != known_.end()) return found->best;
  }
  Entry entry = wanted;
  entry.best = pricer.best(shape_, wanted.resident, wanted.retained, wanted.beside);
  const tbb::spin_mutex::scoped_lock lock(mutex_);
  if (look() == known_.end()) known_.push_back(entry);
  return entry.best;
}

Groups::Groups(const Instance& instance, const Rules& rules) : pricer_(instance, rules) {
  place_.resize(static_cast<std::size_t>(instance.op_count()));
  hash_.resize(place_.size());
  for (std::size_t i = 0; i < place_.size(); ++i) {
    place_[static_cast<std::size_t>(instance.order()[i])] = static_cast<int>(i);
    hash_[i] = scrambled(i);
  }
}

const Group& Groups::of(std::span<const OpId> ops) const {
  std::uint64_t name = 0;
  for (OpId op : ops) name ^= hash(op);
  std::vector<OpId> sorted(ops.begin(), ops.end());
  std::sort(sorted.begin(), sorted.end(), [&](OpId a, OpId b) { return place(a) < place(b); });
  GroupShard& shard = groups_[name % shards];
  const auto find = [&]() -> const Group* {
    const auto [begin, end] = shard.groups.equal_range(name);
    for (auto at = begin; at != end; ++at)
      if (at->second->ops == sorted) return at->second.get();
    return nullptr;
  };
  {
    const tbb::spin_mutex::scoped_lock lock(shard.mutex);
    if (const Group* known = find()) return *known;
  }
  auto group = std::make_unique<Group>();
  Shape shape(instance(), pricer_.rules(), sorted);
  for (const BoundaryInput& input : shape.inputs()) group->inputs.push_back(input.tensor);
  group->made.assign(shape.made().begin(), shape.made().end());
  group->hash = name;
  group->look = &look_of(std::move(shape));
  if (group->shape().legal()) {
    group->cost = best(*group, 0, 0).cost.latency;
    group->usable = group->cost < std::numeric_limits<double>::infinity();
  }
  group->ops = sorted;
  const tbb::spin_mutex::scoped_lock lock(shard.mutex);
  if (const Group* known = find()) return *known;
  return *shard.groups.emplace(name, std::move(group))->second;
}

const GroupClass& Groups::look_of(Shape shape) const {
  std::string name = Signature(instance(), pricer_.rules(), shape).take();
  ClassShard& shard = classes_[std::hash<std::string>{}(name) % shards];
  const tbb::spin_mutex::scoped_lock lock(shard.mutex);
  std::unique_ptr<GroupClass>& look = shard.classes[std::move(name)];
  if (!look) look = std::make_unique<GroupClass>(std::move(shape));
  return *look;
}

}  // namespace fuselage::grid

// Sets of ops that may run as one kernel, each built and priced once. Sets that look alike (the towers of a
// transformer) share one class, which remembers the cheapest granularity for whatever is resident and
// retained: this is the cost cache of all engines. Safe to use from several threads; what it answers does not
// depend on who asks first.
#pragma once

#include <tbb/spin_mutex.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fuselage/grid/kernel_cost.h"

namespace fuselage::grid {

// Groups of one shape, apart from the names of their tensors.
class GroupClass {
 public:
  explicit GroupClass(Shape shape);

  const Shape& shape() const { return shape_; }
  // `beside`: elements of fast memory that hold what the group doesn't read (fusionops).
  KernelPricer::Best best(const KernelPricer& pricer, std::uint64_t resident, std::uint64_t retained,
                          std::int64_t beside) const;

 private:
  struct Entry {
    std::uint64_t resident;
    std::uint64_t retained;
    std::int64_t beside;
    KernelPricer::Best best;
  };
  KernelPricer::Best find(const KernelPricer& pricer, const Entry& wanted) const;

  Shape shape_;              // of the first group that was seen
  std::uint64_t sinks_ = 0;  // bits of what it makes
  mutable tbb::spin_mutex mutex_;
  mutable std::vector<Entry> known_;
};

struct Group {
  std::vector<OpId> ops;         // in execution order
  std::vector<TensorId> inputs;  // as Shape::inputs()
  std::vector<TensorId> made;    // as Shape::made()
  std::uint64_t hash = 0;        // of the set of ops
  const GroupClass* look = nullptr;
  bool usable = false;  // legal, and fits fast memory at some granularity with nothing resident or retained
  double cost = 0;      // then: of that kernel

  const Shape& shape() const { return look->shape(); }
};

class Groups {
 public:
  Groups(const Instance& instance, const Rules& rules);

  // The group of these ops, in any order, each once. Lives as long as this object.
  const Group& of(std::span<const OpId> ops) const;
  KernelPricer::Best best(const Group& group, std::uint64_t resident, std::uint64_t retained,
                          std::int64_t beside = 0) const {
    return group.look->best(pricer_, resident, retained, beside);
  }

  const Instance& instance() const { return pricer_.instance(); }
  const KernelPricer& pricer() const { return pricer_; }
  int place(OpId op) const { return place_[static_cast<std::size_t>(op)]; }  // in the order of execution
  std::uint64_t hash(OpId op) const { return hash_[static_cast<std::size_t>(op)]; }

 private:
  const GroupClass& look_of(Shape shape) const;

  static constexpr std::size_t shards = 64;
  struct GroupShard {
    tbb::spin_mutex mutex;
    std::unordered_multimap<std::uint64_t, std::unique_ptr<Group>> groups;
  };
  struct ClassShard {
    tbb::spin_mutex mutex;
    std::unordered_map<std::string, std::unique_ptr<GroupClass>> classes;
  };

  KernelPricer pricer_;
  std::vector<int> place_;
  std::vector<std::uint64_t> hash_;
  mutable std::array<GroupShard, shards> groups_;
  mutable std::array<ClassShard, shards> classes_;
};

}  // namespace fuselage::grid

// Which order of ops gives which roles: the last op that names a tensor decides how it is cut.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "fusionops_kernel.h"
#include "fusionops_parts.h"

namespace fuselage::grid::fusionops_parts {
namespace {

constexpr std::size_t most_orders = 32;

bool contains(std::span<const OpId> ops, OpId op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// An input that ops of the step read in different roles.
struct Contested {
  TensorId tensor = 0;
  std::vector<std::size_t> readers = {};  // places in the step
};

std::vector<Contested> contested_inputs(const Instance& instance, std::span<const OpId> ops) {
  std::vector<Contested> inputs;
  for (std::size_t place = 0; place < ops.size(); ++place)
    for (const TensorId t : instance.op(ops[place]).inputs) {
      if (contains(ops, instance.producer(t))) continue;
      auto known = std::find_if(inputs.begin(), inputs.end(), [&](const auto& i) { return i.tensor == t; });
      if (known == inputs.end()) known = inputs.insert(known, {.tensor = t});
      if (known->readers.empty() || known->readers.back() != place) known->readers.push_back(place);
    }
  std::erase_if(inputs, [&](const Contested& input) {
    const auto role = [&](std::size_t place) { return role_in(instance.op(ops[place]), input.tensor); };
    return std::all_of(input.readers.begin(), input.readers.end(),
                       [&](std::size_t place) { return role(place) == role(input.readers.front()); });
  });
  return inputs;
}

class Orders {
 public:
  Orders(const Instance& instance, std::span<const OpId> ops)
      : instance_(instance), ops_(ops), contested_(contested_inputs(instance, ops)) {
    std::vector<std::size_t> order(ops.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    add(order);
    last_.resize(contested_.size());
    if (!contested_.empty()) choose(0);
  }
  std::vector<std::vector<OpId>> take() { return std::move(found_); }

 private:
  // Which reader of each contested input comes last.
  void choose(std::size_t index) {
    if (found_.size() >= most_orders) return;
    if (index == contested_.size()) {
      if (const std::vector<std::size_t> order = sorted(); order.size() == ops_.size()) add(order);
      return;
    }
    for (const std::size_t reader : contested_[index].readers) {
      last_[index] = reader;
      choose(index + 1);
    }
  }

  // Every reader before the last, else as given; shorter if that is impossible.
  std::vector<std::size_t> sorted() const {
    std::vector<std::size_t> order;
    std::vector<char> done(ops_.size(), 0);
    const auto waits = [&](std::size_t place) {
      for (std::size_t i = 0; i < contested_.size(); ++i)
        for (const std::size_t reader : contested_[i].readers)
          if (last_[i] == place && reader != place && !done[reader]) return true;
      return false;
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t place = 0; place < ops_.size() && !moved; ++place) {
        if (done[place] || waits(place)) continue;
        done[place] = 1;
        order.push_back(place);
        moved = true;
      }
    }
    return order;
  }

  void add(std::span<const std::size_t> order) {
    std::vector<Role> roles;
    for (const Contested& input : contested_) {
      const auto last = std::find_if(order.rbegin(), order.rend(), [&](std::size_t place) {
        return std::find(input.readers.begin(), input.readers.end(), place) != input.readers.end();
      });
      roles.push_back(role_in(instance_.op(ops_[*last]), input.tensor));
    }
    if (std::find(known_.begin(), known_.end(), roles) != known_.end()) return;
    known_.push_back(std::move(roles));
    found_.emplace_back();
    for (const std::size_t place : order) found_.back().push_back(ops_[place]);
  }

  const Instance& instance_;
  std::span<const OpId> ops_;
  std::vector<Contested> contested_;
  std::vector<std::size_t> last_;
  std::vector<std::vector<Role>> known_;
  std::vector<std::vector<OpId>> found_;
};

}  // namespace

std::vector<std::vector<OpId>> role_orders(const Instance& instance, std::span<const OpId> ops) {
  return Orders(instance, ops).take();
}

}  // namespace fuselage::grid::fusionops_parts

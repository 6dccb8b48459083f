#include "grid_curves.h"

#include <algorithm>

namespace fuselage::experiments {
namespace {

// What the cost cache knows a kernel by.
std::uint64_t question(const grid::GroupClass* look, std::uint64_t resident, std::uint64_t retained,
                       std::int64_t beside) {
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(look);
  for (const std::uint64_t part : {resident, retained, static_cast<std::uint64_t>(beside)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

CountedGrid::CountedGrid(const grid::GridProblem& problem) : problem_(problem) {
  for (grid::OpId op = 0; op < problem.instance().op_count(); ++op)
    for (const grid::Group* group : problem.groups_at(op)) asked_.insert(question(group->look, 0, 0, 0));
  catalogue_ = asked_.size();
}

bool CountedGrid::kernels(const State& s, std::vector<Kernel>& out) const {
  const bool complete = problem_.kernels(s, out);
  listed_ += out.size();
  for (const Kernel& kernel : out) note(s, kernel);
  return complete;
}

void CountedGrid::note(const State& s, const Kernel& k) const {
  std::uint64_t resident = 0;
  std::int64_t beside = 0;
  for (grid::TensorId t : s.resident) {
    const auto& inputs = k.group->inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), t) - inputs.begin();
    if (at < static_cast<std::ptrdiff_t>(inputs.size()))
      resident |= std::uint64_t{1} << (at & 63);
    else
      beside += problem_.instance().tensor(t).size();
  }
  asked_.insert(question(k.group->look, resident, k.retained, beside));
}

}  // namespace fuselage::experiments

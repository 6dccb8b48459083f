#include "graph_memory.h"

#include <algorithm>

#include "fuselage/oracle/store.h"

namespace fuselage::cli {

GraphMemory::Entry& GraphMemory::of(const Workload& workload, walk::Rules rules) {
  std::string key = oracle::store_key(workload, rules, walk::Order::fixed);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    entries_.push_front(
        {.key = std::move(key), .context = walk::EpisodeContext(workload), .values = nullptr});
    if (entries_.size() > most_graphs) entries_.pop_back();
  }
  Entry& entry = entries_.front();
  if (!entry.values || entry.values->searches() > most_searches)
    entry.values = std::make_unique<oracle::GraphValues>(entry.context, rules, budget_);
  return entry;
}

}  // namespace fuselage::cli

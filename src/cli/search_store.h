// What a search has to do with the best-known store: how good the best plan known before is, and that the new
// one joins it. A store that can't be used costs a note, not the search.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store.h"

namespace fuselage::cli {

class SearchStore {
 public:
  // `file`: as --store says; empty: the user's. Error if a store that was named can't be opened.
  SearchStore(const std::string& file, bool used);

  // Cost of the best plan known for the problem of this key so far.
  std::optional<double> known(const std::string& key);
  // `record` is made only if there is a store; `name` is what messages call it.
  void offer(const std::string& name, const std::function<oracle::Record()>& record);

 private:
  std::optional<oracle::Store> store_;
};

// Where the plan of a search comes from. Of `options` engine, width, seed and budget are read.
oracle::Origin origin_of(const std::string& engine, const oracle::SolveOptions& options);

}  // namespace fuselage::cli

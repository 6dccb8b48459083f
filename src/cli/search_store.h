// What a search has to do with the best-known store: how good the best plan known before is, and that the new
// one joins it. A store that can't be used costs a note, not the search: a damaged file is moved out of the
// way and a new store begins, with any other trouble the search goes on without one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/oracle/solve.h"
#include "fuselage/oracle/store.h"

namespace fuselage::cli {

class SearchStore {
 public:
  // `file`: as --store says; empty: the user's. Error if no file can be where a store was named.
  SearchStore(const std::string& file, bool used);

  // Cost of the best plan known for the problem of this key so far.
  std::optional<double> known(const std::string& key);
  // `record` is made only if there is a store; `name` is what messages call it.
  void offer(const std::string& name, const std::function<oracle::Record()>& record);

 private:
  // Does it with the store, if there is one, and again with the new one that takes the place of a damaged
  // one.
  void with_store(const std::function<void(oracle::Store&)>& action);
  void recover(const oracle::StoreError& trouble);
  void open();

  bool named_;
  std::string path_;
  std::optional<oracle::Store> store_;
  std::vector<oracle::Record> offered_;  // to this store; a new one in its place gets them, too
  bool improvable_ = true;               // a store that can be read only still says what is known
  // At the first damage the file is opened again, since another search may have renewed it in the meantime;
  // at the second it is moved away.
  int damages_ = 0;
};

// Where the plan of a search comes from. Of `options` engine, width, seed and budget are read.
oracle::Origin origin_of(const std::string& engine, const oracle::SolveOptions& options);

}  // namespace fuselage::cli

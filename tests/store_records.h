// Plans and records for the tests of the best-known store: a small graph whose plans differ in their tiles,
// and an objective under which a record can claim any cost above its latency.
#pragma once

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/oracle/simulate.h"
#include "fuselage/oracle/store.h"

namespace fuselage::oracle {

inline const Origin origin = {
    .engine = "exact", .budget = "steps=10", .version = "0.1.0", .time = "2031-01-31T23:59:59Z"};

inline Workload small_workload() {
  return {.name = "small",
          .graph = Graph({derived_node(Op::matmul, 256, 128, {}), derived_node(Op::relu, 256, 128, {0}),
                          derived_node(Op::add, 256, 128, {1, 0})}),
          .hardware = {1 << 20, 8.5, 100, 3}};
}

// One kernel a node, all of one tile; the latency is true. Tile 256 is the cheapest, 32 the dearest.
inline walk::PlanFile plan_of(const Workload& workload, int tile,
                              walk::Rules rules = walk::Rules::seed_honest) {
  walk::PlanFile plan{.workload = workload, .rules = rules};
  for (const NodeId id : workload.graph.order())
    plan.kernels.push_back({.nodes = {id}, .tile = tile, .retain = {}});
  plan.latency = simulate(workload.graph, workload.hardware, plan.kernels, {.rules = rules}).latency;
  return plan;
}

inline Record record_of_tile(int tile) {
  return make_record(plan_of(small_workload(), tile), origin);
}

inline Record bounded(Record record, double lower_bound) {
  record.lower_bound = lower_bound;
  return record;
}

// Problem `problem` with a claimed cost.
inline Record priced_record(int problem, double cost, double lower_bound = 0) {
  return make_record(plan_of(small_workload(), 128), origin,
                     {.price = {.launch = 1.0 + problem}, .cost = cost, .lower_bound = lower_bound});
}

// Statements that no store would run; returns the first column of the last row.
inline std::string run_sql(const std::string& path, const std::string& sql) {
  std::string result;
  const auto keep = [](void* text, int, char** values, char**) {
    *static_cast<std::string*>(text) = values[0] != nullptr ? values[0] : "NULL";
    return 0;
  };
  sqlite3* database = nullptr;
  char* message = nullptr;
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, sql.c_str(), keep, &result, &message) != SQLITE_OK)
    result = message != nullptr ? message : sqlite3_errmsg(database);
  sqlite3_free(message);
  sqlite3_close(database);
  return result;
}

// A directory that goes with the test; in memory where there is such a place, since every offer syncs.
class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((in_memory ? memory : std::filesystem::temp_directory_path()) / "fuselage-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("{}: cannot be made", name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace fuselage::oracle

// The best-known store: for every problem the best plan that anyone has found and the best lower bound that
// anyone has proven, in one SQLite file. Searches, on any day and in any number of processes, add to it, and
// it only ever improves. Every plan is priced anew by simulate(), or by the judge of the grid family, when it
// comes in and when it is read, so that what the store says about a plan is true whoever wrote the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph.h"
#include "fuselage/grid/rules.h"
#include "fuselage/search/outcome.h"
#include "fuselage/walk/plan_json.h"
#include "fuselage/walk/price.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

// What a problem is filed under: SHA-256, in hex, of all that a cost depends on: nodes, machine, rules, order
// and the weights of the objective. Names are not part of it: a graph by another name is the same problem.
std::string store_key(const Workload& workload, walk::Rules rules, walk::Order order,
                      const walk::Price& price = {});

// What is known of one problem. `engine` to `time` say where the plan comes from; the bound may come from
// elsewhere. Records of the grid family are made and read by store_grid.h.
struct Record {
  std::string key = {};
  std::string family = "walk";  // or "grid"
  std::string name = {};        // of the graph, where the plan comes from
  grid::Rules grid_rules = {};  // of the grid family; the next three are of the walk family
  walk::Rules rules = walk::Rules::seed_honest;
  walk::Order order = walk::Order::fixed;
  walk::Price price = {};
  int ops = 0;
  double cost = 0;         // cycles, of the objective that `price` defines: the latency if it is zero
  double latency = 0;      // cycles; of the grid family: time units
  double lower_bound = 0;  // of the cost of every legal plan; 0: nothing is known
  search::Proof proof = search::Proof::none;
  std::string engine = {};
  std::string budget = {};   // as text, "steps=10000 time=15"
  std::string version = {};  // of Fuselage
  std::string time = {};     // UTC, ISO 8601: "2031-01-31T23:59:59Z"
  std::string plan = {};     // plan_to_json, or {"problem": ..., "solution": ...}; empty in a list

  bool is_grid() const { return family == "grid"; }
  double gap() const { return search::gap(cost, lower_bound); }
};

// The rules by their name, with their flags: "seed-honest", "mlsys, compute k".
std::string rules_text(const Record& record);

// Where a plan comes from; as the fields of Record.
struct Origin {
  std::string engine = {};
  std::string budget = {};
  std::string version = {};
  std::string time = {};
};

// What is claimed of a plan under an objective that is not the latency alone.
struct Objective {
  walk::Price price = {};
  double cost = 0;         // cycles, as Price says
  double lower_bound = 0;  // cycles
  search::Proof proof = search::Proof::none;
};

// The record of a plan as an engine returns it. Without an objective it is the latency, and cost, bound and
// proof are those of the plan file.
Record make_record(const walk::PlanFile& plan, const Origin& origin);
Record make_record(const walk::PlanFile& plan, const Origin& origin, const Objective& objective);

// Now, as Record::time has it.
std::string utc_now();

// The plan of a walk record that is true: key, names and counts are the plan's, simulate() finds it legal and
// its latency as claimed within 1e-9 relative, bound and proof don't contradict the cost. Error, beginning
// with `where`, for any other. The terms of the cost beside the latency are taken on trust.
walk::PlanFile checked_plan(const Record& record, const std::string& where);
// The same for a record of any family, without its plan.
void check_record(const Record& record, const std::string& where);

// All fields of a record, the plan as an object (left out where it is empty).
nlohmann::ordered_json record_to_json(const Record& record);
// The same in one line, as JSON Lines: stable to the byte.
std::string record_to_line(const Record& record);

// What became of a record that was offered. `bound_improved`: the plan stays, with a higher bound or a
// stronger proof.
enum class Offer : std::uint8_t { added, better, bound_improved, kept };
inline constexpr std::array<std::string_view, 4> offer_names = {"new", "better", "bound improved", "kept"};
constexpr std::string_view name(Offer offer) {
  return offer_names[static_cast<std::size_t>(offer)];
}

enum class Access : std::uint8_t { write, read };

// What is the matter with the file of a store, as opposed to one of its records.
enum class StoreTrouble : std::uint8_t {
  misplaced,  // no file can be at this path: it is empty, or its directories can't be made
  damaged,    // no database, or one that doesn't hold together
  locked,     // by another program, for longer than one waits
  unusable,   // for us: write-protected, of another program, of a newer version, a full disk
};
class StoreError : public Error {
 public:
  StoreError(StoreTrouble trouble, const std::string& message) : Error(message), trouble_(trouble) {}
  StoreTrouble trouble() const { return trouble_; }

 private:
  StoreTrouble trouble_;
};

// While another process holds the file.
struct StorePatience {
  double most_seconds = 60;   // then StoreError
  double quiet_seconds = 60;  // then `notice` is called, once each time
  std::function<void(const std::string& message)> notice = {};
};

// Moves a file that is no store out of the way, together with a journal beside it, which would otherwise be
// taken for that of the next store. Returns its new name, which was free: FILE.damaged, FILE.damaged-2, ...
// Error if it can't be moved; it is then where it was.
std::string set_store_aside(const std::string& path);

// One open file. For one thread, and not across fork(); open one in each instead: any number of them may use
// the file at once, and each waits for its turn. A process that dies leaves the file as it was before or
// after the offer that it was making; an offer that has returned is on the disk.
class Store {
 public:
  // Write access makes a missing file, and its directories. StoreError if the file is of another program, of
  // a newer version, damaged, or can't be opened; also for a missing one under read access. Any call may find
  // damage that lies deeper, and a disk that is full.
  explicit Store(const std::string& path, Access access = Access::write, StorePatience patience = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Keeps the cheaper plan (the old one if both cost the same) and the higher bound, each on its own. A
  // stored record that isn't true counts for nothing. Error if the record offered isn't true (see
  // check_record), or if it and the stored one contradict each other: a plan cheaper than a lower bound means
  // that one of the two is wrong, and nothing is changed, unless the one offered is proven optimal and its
  // cost confirmed against the stored one.
  Offer offer(const Record& record);
  // Offers every record of a text as record_to_line writes them, or none: an Error names `source`, line and
  // field. Counts by Offer.
  std::array<std::size_t, offer_names.size()> import_lines(std::string_view text, const std::string& source);

  // With its plan, checked: Error for a record that isn't true.
  std::optional<Record> find(const std::string& key) const;
  // All records by name, family, rules, order and key; without their plans, and unchecked.
  std::vector<Record> list() const;

  const std::string& path() const { return path_; }

 private:
  class Table;
  std::string path_;
  std::unique_ptr<Table> table_;
};

}  // namespace fuselage::oracle

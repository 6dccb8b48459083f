#include "fuselage/oracle/store.h"

#include <algorithm>
#include <tuple>

#include "fuselage/core/cost.h"
#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "store_database.h"
#include "store_record.h"

namespace fuselage::oracle {
namespace {

constexpr std::int64_t application_id = 0x46755365;  // "FuSe", in the header of the file
// 2 is 1 with records of the grid family; a store of walk graphs alone stays 1, for whom it was made.
constexpr std::int64_t walk_version = 1;
constexpr std::int64_t format_version = 2;

constexpr std::string_view create_table = R"(CREATE TABLE best (
  key TEXT PRIMARY KEY NOT NULL, family TEXT NOT NULL, name TEXT NOT NULL, rules TEXT NOT NULL,
  visit_order TEXT NOT NULL, traffic REAL NOT NULL, launch REAL NOT NULL, residency REAL NOT NULL,
  ops INTEGER NOT NULL, cost REAL NOT NULL, latency REAL NOT NULL, lower_bound REAL NOT NULL,
  proof TEXT NOT NULL, engine TEXT NOT NULL, budget TEXT NOT NULL, version TEXT NOT NULL,
  time TEXT NOT NULL, plan TEXT NOT NULL) STRICT)";
constexpr std::string_view columns =
    "key, family, name, rules, visit_order, traffic, launch, residency, ops, cost, latency, lower_bound, "
    "proof, "
    "engine, budget, version, time";

// For people: "task1_chain (3fa2c81b90d4)".
std::string label(const Record& record) {
  return fmt::format("{} ({})", record.name, record.key.substr(0, 12));
}

std::string where(const std::string& path, const Record& record) {
  return fmt::format("{}: {}", path, label(record));
}

template <class Value>
Value known(std::string_view field, const std::string& text, std::optional<Value> (*parse)(std::string_view),
            const std::string& at) {
  const std::optional<Value> value = parse(text);
  if (!value) fail("{}: {}: {} is unknown to this version; the store may be damaged", at, field, quote(text));
  return *value;
}

// Of `columns`; the plan is left out.
Record record_of(const Statement& row, const std::string& path) {
  Record record{.key = row.text(0), .family = row.text(1), .name = row.text(2)};
  const std::string at = where(path, record);
  if (record.is_grid()) {
    record.grid_rules = known("rules", row.text(3), grid::parse_rules_text, at);
  } else {
    record.rules = known("rules", row.text(3), walk::parse_rules, at);
    record.order = known("order", row.text(4), walk::parse_order, at);
  }
  record.price = {.traffic = row.number(5), .launch = row.number(6), .residency = row.number(7)};
  record.ops = static_cast<int>(row.integer(8));
  record.cost = row.number(9);
  record.latency = row.number(10);
  record.lower_bound = row.number(11);
  record.proof = known("proof", row.text(12), parse_proof, at);
  record.engine = row.text(13);
  record.budget = row.text(14);
  record.version = row.text(15);
  record.time = row.text(16);
  return record;
}

// A bound holds for all legal plans, so one that the cost meets is a proof, whoever found the two. Of a bound
// that lies above the cost, within what counts as the same, the plan itself is the better witness.
void settle(Record& record) {
  search::settle_proof(record.cost, record.lower_bound, record.proof);
}

// "engine exact, 2031-01-31T23:59:59Z"
std::string found_by(const Record& record) {
  return fmt::format("engine {}, {}", record.engine, record.time);
}

bool refutes(double cost, double bound) {
  return cost < bound && !agree(cost, bound);
}

// Of two records that contradict each other: is it certain that the stored one is wrong? A proven plan whose
// cost is confirmed leaves no doubt about a bound above it, nor about a cost below it that isn't the plan's.
bool is_refuted(const Record& stored, const Record& offered) {
  const bool bound = refutes(offered.cost, stored.lower_bound);
  const bool cost = refutes(stored.cost, offered.lower_bound);
  if (offered.proof != search::Proof::optimal || !(bound || cost) || !is_cost_confirmed(offered))
    return false;
  return bound || !is_cost_confirmed(stored);
}

void check_agreement(const Record& stored, const Record& offered, const std::string& at) {
  if (refutes(offered.cost, stored.lower_bound))
    fail(
        "{}: cost: {} ({}) is below the lower bound that is stored, {}; one of the two is wrong, and nothing "
        "is changed",
        at, json_number(offered.cost), found_by(offered), json_number(stored.lower_bound));
  if (refutes(stored.cost, offered.lower_bound))
    fail(
        "{}: lower_bound: {} ({}) is above the cost of the plan that is stored, {} ({}); one of the two is "
        "wrong, and nothing is changed",
        at, json_number(offered.lower_bound), found_by(offered), json_number(stored.cost), found_by(stored));
}

struct Merged {
  Offer offer = Offer::kept;
  Record record;
};

Merged merge(const Record& stored, const Record& offered) {
  const bool better = offered.cost < stored.cost;
  Merged merged{.record = better ? offered : stored};
  Record& best = merged.record;
  if (offered.cost == stored.cost) best.proof = std::max(stored.proof, offered.proof);
  best.lower_bound = std::max(stored.lower_bound, offered.lower_bound);
  settle(best);
  if (better)
    merged.offer = Offer::better;
  else if (best.lower_bound > stored.lower_bound || best.proof > stored.proof)
    merged.offer = Offer::bound_improved;
  return merged;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back({number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

// The table of an open file.
class Store::Table {
 public:
  Table(const std::string& path, Access access, StorePatience patience)
      : database_(path, access, std::move(patience)) {
    if (is_new()) create(access);
    check_format();
    database_.execute("PRAGMA trusted_schema = OFF");
  }

  const Database& database() const { return database_; }

  std::optional<Record> row_with_plan(const std::string& key) const {
    Statement query = database_.prepare(fmt::format("SELECT {}, plan FROM best WHERE key = ?", columns));
    if (!query.bind(key).step()) return std::nullopt;
    Record record = record_of(query, database_.path());
    record.plan = query.text(17);
    return record;
  }

  std::vector<Record> rows() const {
    std::vector<Record> records;
    Statement query = database_.prepare(fmt::format("SELECT {} FROM best", columns));
    while (query.step()) records.push_back(record_of(query, database_.path()));
    return records;
  }

  void put(const Record& record) const {
    if (record.is_grid() && database_.integer("PRAGMA user_version") < format_version)
      database_.execute(fmt::format("PRAGMA user_version = {}", format_version));
    Statement insert =
        database_.prepare(fmt::format("INSERT OR REPLACE INTO best ({}, plan) VALUES "
                                      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                      columns));
    insert.bind(record.key).bind(record.family).bind(record.name);
    insert.bind(rules_text(record)).bind(record.is_grid() ? "" : name(record.order));
    insert.bind(record.price.traffic).bind(record.price.launch).bind(record.price.residency);
    insert.bind(std::int64_t{record.ops}).bind(record.cost).bind(record.latency).bind(record.lower_bound);
    insert.bind(search::name(record.proof)).bind(record.engine).bind(record.budget);
    insert.bind(record.version).bind(record.time).bind(record.plan).step();
  }

  void put_bound(const Record& record) const {
    Statement update = database_.prepare("UPDATE best SET lower_bound = ?, proof = ? WHERE key = ?");
    update.bind(record.lower_bound).bind(search::name(record.proof)).bind(record.key).step();
  }

  // Within a transaction.
  Offer offer(const Record& offered, const std::string& at) const {
    const std::optional<Record> stored = true_row(offered.key);
    if (!stored || is_refuted(*stored, offered)) {
      Record record = offered;
      settle(record);
      put(record);
      return Offer::added;
    }
    check_agreement(*stored, offered, at);
    const Merged merged = merge(*stored, offered);
    if (merged.offer == Offer::better) put(merged.record);
    if (merged.offer == Offer::bound_improved) put_bound(merged.record);
    return merged.offer;
  }

 private:
  // None also where somebody wrote what isn't true.
  std::optional<Record> true_row(const std::string& key) const {
    try {
      std::optional<Record> record = row_with_plan(key);
      if (record) check_record(*record, where(database_.path(), *record));
      return record;
    } catch (const StoreError&) {
      throw;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  // Nothing in the file yet, of anybody.
  bool is_new() const {
    return database_.integer("SELECT count(*) FROM sqlite_schema") == 0 &&
           database_.integer("PRAGMA application_id") == 0 && database_.integer("PRAGMA user_version") == 0;
  }

  void create(Access access) const {
    if (access == Access::read)
      throw StoreError(StoreTrouble::unusable,
                       fmt::format("{}: is empty; expected a store of best-known plans", database_.path()));
    Transaction transaction(database_);
    if (!is_new()) return;  // another process was faster
    database_.execute(create_table);
    database_.execute(fmt::format("PRAGMA application_id = {}", application_id));
    database_.execute(fmt::format("PRAGMA user_version = {}", walk_version));
    transaction.commit();
  }

  void check_format() const {
    if (database_.integer("PRAGMA application_id") != application_id)
      throw StoreError(
          StoreTrouble::unusable,
          fmt::format("{}: is an SQLite database of another program; expected a store of best-known plans",
                      database_.path()));
    const std::int64_t version = database_.integer("PRAGMA user_version");
    if (version < walk_version || version > format_version)
      throw StoreError(
          StoreTrouble::unusable,
          fmt::format(
              "{}: has the format {}, and this version of fuselage knows {} to {}; expected a newer fuselage",
              database_.path(), version, walk_version, format_version));
  }

  Database database_;
};

Store::Store(const std::string& path, Access access, StorePatience patience)
    : path_(path), table_(std::make_unique<Table>(path, access, std::move(patience))) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Offer Store::offer(const Record& record) {
  const std::string at = label(record);
  check_record(record, at);
  Transaction transaction(table_->database());
  const Offer offer = table_->offer(record, at);
  transaction.commit();
  return offer;
}

std::array<std::size_t, offer_names.size()> Store::import_lines(std::string_view text,
                                                                const std::string& source) {
  std::vector<std::pair<Record, std::string>> records;  // with what messages call it
  for (const Line& line : lines_of(text)) {
    records.emplace_back(read_record(line, source), name_of(line, source));
    check_record(records.back().first, records.back().second);
  }
  std::array<std::size_t, offer_names.size()> counts = {};
  Transaction transaction(table_->database());
  for (const auto& [record, at] : records) ++counts[static_cast<std::size_t>(table_->offer(record, at))];
  transaction.commit();
  return counts;
}

std::optional<Record> Store::find(const std::string& key) const {
  std::optional<Record> record = table_->row_with_plan(key);
  if (record) check_record(*record, where(path_, *record));
  return record;
}

std::vector<Record> Store::list() const {
  std::vector<Record> records = table_->rows();
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    const auto rank = [](const Record& r) {
      return std::make_tuple(std::string_view(r.name), r.is_grid(), r.grid_rules.set, r.rules, r.order,
                             std::string_view(r.key));
    };
    return rank(a) < rank(b);
  });
  return records;
}

}  // namespace fuselage::oracle

// One SQLite connection in terms of this library: calls throw Error with the name of the file and what would
// be right, and statements and transactions end with their scope.
//
// The journal is SQLite's default, a rollback journal, rather than a write-ahead log: writes are few and
// small, and it works where home directories lie on a network, leaves a single file that can be copied, and
// lets a store be read from a directory that can't be written.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuselage/oracle/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fuselage::oracle {

class Statement;

class Database {
 public:
  // Error for an empty path and for anything but a regular file, which write access makes if it is missing.
  // SQLite reads the file only when a statement does: until then one that is no database passes.
  Database(const std::string& path, Access access, StorePatience patience);

  Statement prepare(std::string_view sql) const;
  void execute(std::string_view sql) const;          // a statement without rows
  std::int64_t integer(std::string_view sql) const;  // the one value that a query answers
  const std::string& path() const { return path_; }
  // What the failure of the last call means to a user: throws StoreError.
  [[noreturn]] void refuse(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  // One wait for a lock.
  struct Wait {
    std::string path;
    StorePatience patience;
    std::chrono::steady_clock::time_point since = {};
    bool noticed = false;

    bool go_on(bool first);
  };
  std::string path_;
  std::unique_ptr<Wait> wait_;  // SQLite knows its address
  std::unique_ptr<sqlite3, Close> handle_;
};

// Parameters are bound in their order; columns and parameters count from 0 and 1 as in SQLite.
class Statement {
 public:
  Statement(const Database& database, sqlite3_stmt* handle) : database_(&database), handle_(handle) {}

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  bool step();  // is there another row?

  // Of the row that step() found.
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;

 private:
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int bound_ = 0;
};

// Holds the write lock from the start, so that what is read within is still true when it is written upon.
// Undone unless it is committed.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database* database_;
  bool open_ = true;
};

}  // namespace fuselage::oracle

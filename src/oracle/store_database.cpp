#include "store_database.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>
#include <thread>

#include "fuselage/core/error.h"

namespace fuselage::oracle {
namespace {

namespace fs = std::filesystem;

template <class... Args>
[[noreturn]] void refuse_as(StoreTrouble trouble, fmt::format_string<Args...> format, Args&&... args) {
  throw StoreError(trouble, fmt::format(format, std::forward<Args>(args)...));
}

void make_parents(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error)
    refuse_as(StoreTrouble::misplaced, "{}: directory {} cannot be made: {}", path, parent.string(),
              error.message());
}

void check_path(const std::string& path, Access access) {
  if (path.empty()) refuse_as(StoreTrouble::misplaced, "the name of a store is empty; expected a file name");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    refuse_as(StoreTrouble::unusable, "{}: is a directory; expected a store of best-known plans", path);
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse_as(StoreTrouble::unusable, "{}: is no regular file; expected a store of best-known plans", path);
  if (access == Access::write) return make_parents(path);
  if (!fs::exists(status))
    refuse_as(StoreTrouble::misplaced, "{}: cannot be opened: {}; expected a store of best-known plans", path,
              error ? error.message() : "no such file");
}

// A file name only: SQLite gives ":memory:" and, if so configured, "file:" a meaning of their own.
std::string plain_name(const std::string& path) {
  return path.front() == '/' ? path : "./" + path;
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

// Asked again and again while another process holds the lock.
bool Database::Wait::go_on(bool first) {
  constexpr auto pause = std::chrono::milliseconds(5);
  const auto now = std::chrono::steady_clock::now();
  if (first) {
    since = now;
    noticed = false;
  }
  const double waited = std::chrono::duration<double>(now - since).count();
  if (waited >= patience.most_seconds) return false;
  if (!noticed && patience.notice && waited >= patience.quiet_seconds) {
    noticed = true;
    patience.notice(fmt::format("{}: another program has locked it; waiting for it, up to {} seconds", path,
                                patience.most_seconds));
  }
  std::this_thread::sleep_for(pause);
  return true;
}

Database::Database(const std::string& path, Access access, StorePatience patience)
    : path_(path), wait_(std::make_unique<Wait>(Wait{.path = path, .patience = std::move(patience)})) {
  check_path(path, access);
  const int flags =
      access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(plain_name(path).c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) refuse(code);
  sqlite3_busy_handler(
      handle, [](void* wait, int count) { return static_cast<Wait*>(wait)->go_on(count == 0) ? 1 : 0; },
      wait_.get());
}

void Database::refuse(int code) const {
  const char* const reason = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      refuse_as(StoreTrouble::damaged, "{}: is no SQLite database; expected a store of best-known plans",
                path_);
    case SQLITE_CORRUPT:
      refuse_as(StoreTrouble::damaged,
                "{}: is damaged ({}); expected a store of best-known plans, perhaps a copy of it", path_,
                reason);
    case SQLITE_ERROR:  // a statement of ours that doesn't fit the tables
      refuse_as(StoreTrouble::damaged, "{}: {}; expected a store of best-known plans", path_, reason);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      refuse_as(StoreTrouble::unusable,
                "{}: cannot be written: it is write-protected, or its directory is; expected a writable file",
                path_);
    case SQLITE_BUSY:
      refuse_as(StoreTrouble::locked,
                "{}: another program has locked it for {} seconds; try again when it is done", path_,
                wait_->patience.most_seconds);
    case SQLITE_FULL:
      refuse_as(StoreTrouble::unusable, "{}: cannot be written: {}; expected room on its disk", path_,
                reason);
    case SQLITE_CANTOPEN:
      refuse_as(StoreTrouble::unusable,
                "{}: cannot be opened: {}; expected a file that can be read and written", path_,
                std::generic_category().message(sqlite3_system_errno(handle_.get())));
    case SQLITE_IOERR:
      refuse_as(StoreTrouble::unusable,
                "{}: cannot be read or written: {} ({}); expected a file and a disk that can", path_, reason,
                std::generic_category().message(sqlite3_system_errno(handle_.get())));
    default:
      refuse_as(StoreTrouble::unusable, "{}: {}; expected a store of best-known plans", path_, reason);
  }
}

Statement Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) refuse(code);
  return {*this, statement};
}

void Database::execute(std::string_view sql) const {
  prepare(sql).step();
}

std::int64_t Database::integer(std::string_view sql) const {
  Statement query = prepare(sql);
  query.step();
  return query.integer(0);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->refuse(code);
}

Statement& Statement::bind(std::string_view text) {
  check(
      sqlite3_bind_text64(handle_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), ++bound_, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(handle_.get(), ++bound_, value));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->refuse(code);
  return code == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

Transaction::Transaction(const Database& database) : database_(&database) {
  database.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_->execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has undone it by itself, as it does after a full disk.
  }
}

void Transaction::commit() {
  database_->execute("COMMIT");
  open_ = false;
}

}  // namespace fuselage::oracle

// Searches beside a best-known store that is damaged, locked, full or not theirs: the plan is found, printed
// and written whatever the store is like; commands about the store itself say what is wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/command.h"
#include "store_records.h"

namespace fuselage {
namespace {

using nlohmann::json;
using oracle::run_sql;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CliStore : public CommandTest {
 protected:
  static constexpr const char* search_line = "search task1_chain task2_residual --store s.sqlite --out plans";

  void fill() const { EXPECT_EQ(run("search task1_chain task2_residual --store s.sqlite").exit_code, 0); }
  std::string bytes() const { return read("s.sqlite"); }

  // Both plans are there, exit code 0, and stderr is one line, which names --no-store.
  Finished expect_searched(const std::string& what, const std::string& before = "") const {
    SCOPED_TRACE(what);
    std::filesystem::remove_all(path("plans"));
    const Finished search = shell(before + "\"$FUSELAGE\" " + search_line + " < /dev/null");
    EXPECT_EQ(search.exit_code, 0) << search.err;
    EXPECT_THAT(search.out, AllOf(HasSubstr("111,806.72"), HasSubstr("1,910,476.16")));
    EXPECT_EQ(list("plans").size(), 2U);
    EXPECT_EQ(lines(search.err).size(), 1U) << search.err;
    EXPECT_THAT(search.err, AllOf(HasSubstr("s.sqlite"), HasSubstr("--no-store"), HasSubstr(what)));
    return search;
  }
  // The damaged file is kept, and the new store has the records since: both where damage shows at once.
  void expect_kept(const std::string& text, std::size_t least = 2,
                   const std::string& aside = "s.sqlite.damaged") const {
    EXPECT_EQ(read(aside), text);
    EXPECT_GE(run_json("best list --store s.sqlite").at("records").size(), least);
  }
  void expect_best_refuses(const std::string& message) const {
    for (const char* command : {"list", "show task1_chain", "export -"}) {
      const Finished best = run(fmt::format("best {} --store s.sqlite", command));
      EXPECT_EQ(best.exit_code, 2) << command;
      EXPECT_EQ(best.out, "") << command;
      EXPECT_THAT(best.err, AllOf(testing::StartsWith("fuselage: error: s.sqlite: "), HasSubstr(message)));
    }
  }
};

TEST_F(CliStore, ATruncatedStoreIsKeptAsideAndANewOneBegins) {
  fill();
  const std::string half = bytes().substr(0, bytes().size() / 2);
  write("s.sqlite", half);
  expect_best_refuses("is damaged");
  EXPECT_EQ(bytes(), half) << "what is about the store moves nothing";
  expect_searched("it is kept as s.sqlite.damaged, and a new one begins");
  expect_kept(half);
  EXPECT_EQ(run(search_line).err, "");
  // Again: the first one stays.
  write("s.sqlite", "no store either");
  expect_searched("it is kept as s.sqlite.damaged-2");
  expect_kept("no store either", 2, "s.sqlite.damaged-2");
  EXPECT_EQ(read("s.sqlite.damaged"), half);
}

// Where the file can be opened and read, and only the pages of a row or of its index are gone.
TEST_F(CliStore, DamageThatShowsOnlyLaterIsTheSame) {
  fill();
  const std::string whole = bytes();
  int kept = 0;
  for (std::size_t page = 1; page * 4096 < whole.size(); ++page) {
    std::string damaged = whole;
    damaged.replace(page * 4096, 4096, 4096, '\xa5');
    write("s.sqlite", damaged);
    std::filesystem::remove(path("s.sqlite.damaged"));
    const Finished search = run(search_line);
    EXPECT_EQ(search.exit_code, 0) << page;
    EXPECT_THAT(search.out, HasSubstr("111,806.72"));
    EXPECT_LE(lines(search.err).size(), 1U) << search.err;
    if (search.err.find("--no-store") == std::string::npos) continue;
    expect_kept(damaged, 1);
    ++kept;
  }
  EXPECT_GT(kept, 1);
}

TEST_F(CliStore, FilesOfOthersStayWhereTheyAre) {
  run_sql(path("s.sqlite"), "CREATE TABLE t(x)");
  const std::string before = bytes();
  expect_best_refuses("of another program");
  expect_searched("of another program");
  EXPECT_EQ(bytes(), before);
  std::filesystem::remove(path("s.sqlite"));
  fill();
  run_sql(path("s.sqlite"), "PRAGMA user_version = 99");
  const std::string newer = bytes();
  expect_searched("expected a newer fuselage");
  EXPECT_EQ(bytes(), newer);
  EXPECT_THAT(list("."), ElementsAre("plans", "s.sqlite"));
}

TEST_F(CliStore, DirectoriesAndEmptyFilesAreNoReasonToStop) {
  std::filesystem::create_directory(path("s.sqlite"));
  expect_searched("is a directory");
  expect_best_refuses("is a directory");
  EXPECT_TRUE(list("s.sqlite").empty());
  std::filesystem::remove(path("s.sqlite"));
  write("s.sqlite", "");
  EXPECT_EQ(run(search_line).err, "");
  EXPECT_EQ(run_json("best list --store s.sqlite").at("records").size(), 2U);
}

// A store that can only be read still says what is known.
TEST_F(CliStore, WriteProtectionIsToldOnce) {
  fill();
  if (::geteuid() == 0 && shell("command -v setpriv").exit_code != 0)
    GTEST_SKIP() << "root writes everything";
  const std::string user = ::geteuid() == 0 ? "setpriv --reuid 65534 --clear-groups " : "";
  const std::string before = bytes();
  const Finished search =
      shell("mkdir plans && chmod 777 plans && chmod 444 s.sqlite && chmod 755 . && " + user +
            "\"$FUSELAGE\" search task1_chain task3_attention task2_residual "
            "--store s.sqlite --engine naive --out plans < /dev/null; code=$?; "
            "chmod 644 s.sqlite; exit $code");
  EXPECT_EQ(search.exit_code, 0) << search.err;
  EXPECT_EQ(lines(search.err).size(), 1U) << search.err;
  EXPECT_THAT(search.err, AllOf(HasSubstr("write-protected"), HasSubstr("--no-store")));
  EXPECT_EQ(list("plans").size(), 3U);
  EXPECT_EQ(bytes(), before);
}

TEST_F(CliStore, RowsThatAreNotTrueAreToldAndReplaced) {
  for (const char* lie : {"cost = 1, latency = 1", "lower_bound = 1e9", "plan = '{}'", "proof = 'surely'"}) {
    std::filesystem::remove(path("s.sqlite"));
    fill();
    run_sql(path("s.sqlite"), fmt::format("UPDATE best SET {} WHERE name = 'task1_chain'", lie));
    const Finished first = run(search_line);
    EXPECT_EQ(first.exit_code, 0);
    EXPECT_THAT(first.err,
                AllOf(HasSubstr("s.sqlite: task1_chain ("), HasSubstr("is replaced by what is found")));
    EXPECT_EQ(lines(first.err).size(), 1U) << first.err;
    const Finished second = run(search_line);
    EXPECT_EQ(second.err, "") << lie;
    const json record = run_json("best show task1_chain --store s.sqlite");
    EXPECT_NEAR(record.at("cost").get<double>(), 111806.72, 0.01);
    EXPECT_EQ(record.at("proof"), "optimal");
  }
}

// Of grid problems as well, and where the row is sound in itself: its bound is above a proven plan.
TEST_F(CliStore, BoundsThatAProvenPlanRefutesAreReplaced) {
  for (const char* task : {"task4_mixed", "task1_linear"}) {
    const std::string search = fmt::format("search {} --store s.sqlite ", task);
    EXPECT_EQ(run(search + "--engine naive").exit_code, 0);
    run_sql(path("s.sqlite"), "UPDATE best SET lower_bound = cost, proof = 'optimal'");
    EXPECT_EQ(run(search).err, "") << task;
    EXPECT_EQ(run(search).err, "") << task;
    const json result = run_json(search).at("results").at(0);
    EXPECT_EQ(result.at("best_known"), result.at("latency")) << task;
    EXPECT_EQ(run_json(fmt::format("best show {} --store s.sqlite", task)).at("proof"), "optimal");
  }
}

TEST_F(CliStore, ALockIsToldAndThenDoneWithout) {
  fill();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path("s.sqlite").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Finished search = run(search_line);
  sqlite3_close(other);
  EXPECT_EQ(search.exit_code, 0);
  EXPECT_THAT(search.out, HasSubstr("111,806.72"));
  const std::vector<std::string> said = lines(search.err);
  ASSERT_EQ(said.size(), 2U) << search.err;
  EXPECT_THAT(said[0], HasSubstr("s.sqlite: another program has locked it; waiting for it, up to 5 seconds"));
  EXPECT_THAT(said[1], AllOf(HasSubstr("goes on without it"), HasSubstr("--no-store")));
}

// A file may grow no further than the store is now, or not at all: as on a full disk.
TEST_F(CliStore, AFullDiskCostsTheRecordOnly) {
  expect_searched("s.sqlite: cannot be", "prlimit --fsize=8192 ");
  EXPECT_EQ(run("search task1_chain --store s.sqlite").err, "");
  run_sql(path("s.sqlite"), "CREATE TABLE filler(x); INSERT INTO filler VALUES (zeroblob(40000))");
  EXPECT_EQ(run("search all --rules physical --store s.sqlite").exit_code, 0);
  const std::string before = run("best export - --store s.sqlite").out;
  const Finished full = shell(fmt::format(
      "prlimit --fsize={} \"$FUSELAGE\" search all --rules seed --store s.sqlite --out plans < /dev/null",
      std::filesystem::file_size(path("s.sqlite"))));
  EXPECT_EQ(full.exit_code, 0) << full.err;
  EXPECT_THAT(full.out, HasSubstr("2,157,852.16"));
  EXPECT_EQ(lines(full.err).size(), 1U) << full.err;
  EXPECT_THAT(full.err, HasSubstr("--no-store"));
  EXPECT_EQ(list("plans").size(), 5U);
  EXPECT_THAT(run("best export - --store s.sqlite").out, HasSubstr(lines(before).front()));
}

TEST_F(CliStore, PlayGoesOnWithoutADamagedStoreAndLeavesIt) {
  write("s.sqlite", "damaged");
  write("actions.txt", "SCHEDULE ops=[0,1,2,3,4,5]\n");
  const Finished played = run("play task1_linear actions.txt --quiet --store s.sqlite");
  EXPECT_EQ(played.exit_code, 0);
  EXPECT_THAT(played.err, HasSubstr("s.sqlite: is no SQLite database"));
  EXPECT_EQ(bytes(), "damaged");
}

}  // namespace
}  // namespace fuselage

// The store under several processes at once, one of which dies.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <set>

#include "store_records.h"

namespace fuselage::oracle {
namespace {

constexpr int problems = 5;

// An offer that has returned.
struct Acknowledged {
  int problem = 0;
  double cost = 0;
  double lower_bound = 0;
};

// A process that offers ever better records, each better than all before it, and says so in a pipe.
class Writer {
 public:
  Writer(const std::string& path, int offers, double first_cost) {
    int ends[2];
    if (::pipe(ends) != 0) fail("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) ::_exit(write(path, offers, first_cost, ends[1]));
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { ::close(pipe_); }

  // The next thing it says; none when it has ended.
  std::optional<Acknowledged> next() const {
    Acknowledged said;
    if (::read(pipe_, &said, sizeof said) != ssize_t{sizeof said}) return std::nullopt;
    return said;
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  // Its exit code; -1 if it was killed.
  int wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  static int write(const std::string& path, int offers, double first_cost, int pipe) {
    try {
      Store store(path);
      for (int i = 0; i < offers; ++i) {
        const Acknowledged said{i % problems, first_cost - 10 * i, 1.0 + i};
        store.offer(priced_record(said.problem, said.cost, said.lower_bound));
        if (::write(pipe, &said, sizeof said) != ssize_t{sizeof said}) return 2;
      }
    } catch (const std::exception&) {
      return 3;
    }
    return 0;
  }

  pid_t pid_ = 0;
  int pipe_ = -1;
};

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  double lower_bound = 0;
};

void count(std::map<int, Best>& best, const Acknowledged& said) {
  best[said.problem].cost = std::min(best[said.problem].cost, said.cost);
  best[said.problem].lower_bound = std::max(best[said.problem].lower_bound, said.lower_bound);
}

TEST(StoreProcesses, TwoWritersOneKilled) {
  const Folder folder;
  const std::string path = folder / "best.sqlite";
  std::map<int, Best> acknowledged;
  const Writer survivor(path, 500, 1e6);
  const Writer victim(path, 100'000, 1e6 + 5);
  for (int i = 0; i < 300; ++i) count(acknowledged, victim.next().value());
  victim.kill();
  while (const auto said = victim.next()) count(acknowledged, *said);
  EXPECT_EQ(victim.wait(), -1) << "it ended before it was killed";
  int survivors = 0;
  for (; const auto said = survivor.next(); ++survivors) count(acknowledged, *said);
  EXPECT_EQ(survivor.wait(), 0);
  EXPECT_EQ(survivors, 500);

  const Store store(path);
  EXPECT_EQ(run_sql(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(store.list().size(), std::size_t{problems});
  for (const auto& [problem, best] : acknowledged) {
    const auto found = store.find(priced_record(problem, 1e6).key);
    ASSERT_TRUE(found) << problem;
    EXPECT_LE(found->cost, best.cost) << problem;
    EXPECT_GE(found->lower_bound, best.lower_bound) << problem;
  }
}

// Wherever the process is in a write: the file is as before or after it.
TEST(StoreProcesses, KilledAgainAndAgain) {
  const Folder folder;
  const std::string path = folder / "best.sqlite";
  double cost = 1e6;
  for (int round = 0; round < 20; ++round) {
    const Writer victim(path, 100'000, cost);
    std::map<int, Best> acknowledged;
    count(acknowledged, victim.next().value());
    ::usleep(static_cast<unsigned>(round) * 211);
    victim.kill();
    while (const auto said = victim.next()) count(acknowledged, *said);
    victim.wait();
    const Store store(path);
    EXPECT_EQ(run_sql(path, "PRAGMA integrity_check"), "ok");
    for (const auto& [problem, best] : acknowledged) {
      const double found = store.find(priced_record(problem, 1e6).key).value().cost;
      EXPECT_LE(found, best.cost);
      cost = std::min(cost, found - 100);
    }
  }
}

// All of them find no file, and one of them makes it.
TEST(StoreProcesses, OpenedByManyAtOnce) {
  const Folder folder;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < 6; ++i) writers.push_back(std::make_unique<Writer>(folder / "best.sqlite", 5, 1e6 + i));
  for (const auto& writer : writers) EXPECT_EQ(writer->wait(), 0);
  for (const Record& record : Store(folder / "best.sqlite", Access::read).list())
    EXPECT_EQ(std::fmod(record.cost, 10), 0) << "the first writer's are the cheapest";
}

}  // namespace
}  // namespace fuselage::oracle

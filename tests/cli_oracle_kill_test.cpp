// `fuselage oracle` killed, interrupted, doubled and out of disk: complete shards stay, nothing else does,
// and the same command ends with the same bytes.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "data_sets.h"
#include "e2e/command.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// Work of a second or so in 40 shards.
constexpr const char* work = "oracle --graphs 120 --ops 8-14 --shard-size 3 --format sft,raw --threads 2";

class OracleKill : public CommandTest {
 protected:
  // Begins a command in the directory; it is the caller's to wait for.
  pid_t start(const std::string& arguments) const {
    const std::string line = fmt::format("cd '{}' && exec '{}' {} > /dev/null 2> err.txt < /dev/null",
                                         path("").string(), FUSELAGE_COMMAND, arguments);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status;
  }
  std::size_t finished_shards(const std::string& directory) const {
    std::error_code none;
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path(directory) / ".work", none))
      count += entry.path().filename().string().starts_with("shard-");
    return count;
  }
  // A shard is finished, or more than so many.
  bool reached(const std::string& directory, std::size_t shards) const {
    for (int i = 0; i < 4000; ++i) {
      if (finished_shards(directory) >= shards) return true;
      if (std::filesystem::exists(path(directory) / "manifest.json")) return false;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
};

TEST_F(OracleKill, twenty_kills_change_no_byte) {
  ASSERT_EQ(run(std::string(work) + " --out whole").exit_code, 0);
  const auto whole = tree_of(path("whole"));
  EXPECT_GT(whole.size(), 80U);
  Dice dice(17);
  int kills = 0;
  while (kills < 20) {
    const pid_t pid = start(std::string(work) + " --out d");
    std::this_thread::sleep_for(std::chrono::milliseconds(dice.between(15, 120)));
    ::kill(pid, SIGKILL);
    if (WIFSIGNALED(wait_for(pid))) {
      if (!std::filesystem::exists(path("d"))) continue;  // on a busy machine: it had not begun
      ++kills;
      for (const auto& [name, text] : tree_of(path("d")))
        if (name.find("/.") == std::string::npos && name.ends_with(".jsonl")) {
          ASSERT_EQ(text == whole.at(name), true) << name << " is half written";
        }
      continue;
    }
    // It was done before it could be killed: begin again.
    EXPECT_EQ(difference_of(tree_of(path("d")), whole), "");
    std::filesystem::remove_all(path("d"));
  }
  ASSERT_EQ(run(std::string(work) + " --out d").exit_code, 0);
  EXPECT_EQ(difference_of(tree_of(path("d")), whole), "");
}

TEST_F(OracleKill, interrupted_it_says_so_and_goes_on_later) {
  ASSERT_EQ(run(std::string(work) + " --out whole").exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = fmt::format("d{}", signal);
    const pid_t pid = start(std::string(work) + " --out " + out);
    ASSERT_TRUE(reached(out, 1));
    ::kill(pid, signal);
    const int status = wait_for(pid);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_THAT(read("err.txt"), AllOf(HasSubstr("interrupted"), HasSubstr("goes on where it was")));
    EXPECT_FALSE(std::filesystem::exists(path(out) / "manifest.json"));
    EXPECT_EQ(run("oracle verify " + out).exit_code, 2);
    const Finished again = run(std::string(work) + " --out " + out);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("of 40 shards were there already"));
    EXPECT_EQ(difference_of(tree_of(path(out)), tree_of(path("whole"))), "");
  }
}

TEST_F(OracleKill, a_second_writer_is_refused_and_the_first_goes_on) {
  const std::string command = std::string(work) + " --out d";
  const pid_t pid = start(command);
  ASSERT_TRUE(reached("d", 1));
  ::kill(pid, SIGSTOP);
  const Finished second = run(command);
  const Finished merging = run("oracle merge d --out d");
  ::kill(pid, SIGCONT);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err,
              HasSubstr("d: another process is writing into it; expected its end, or another directory"));
  EXPECT_EQ(merging.exit_code, 2);
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_EQ(run("oracle verify d").exit_code, 0);
}

// A directory of its own on a disk of two megabytes, if this process may mount one.
class OracleDisk : public OracleKill {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(path("disk"));
    if (::mount("none", path("disk").c_str(), "tmpfs", 0, "size=2m") != 0)
      GTEST_SKIP() << "mounting a small disk is not allowed here: " << std::strerror(errno);
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(path("disk").c_str(), MNT_DETACH);
  }
  void resize(const char* size) const {
    ASSERT_EQ(::mount("none", path("disk").c_str(), "tmpfs", MS_REMOUNT, size), 0);
  }

 private:
  bool mounted_ = false;
};

TEST_F(OracleDisk, full_stops_with_complete_shards_and_goes_on_with_room) {
  for (const std::string zstd : {"", " --zstd"}) {
    const std::string out = zstd.empty() ? "plain" : "packed";
    // Room for some of the shards.
    resize(zstd.empty() ? "size=2m" : "size=500k");
    ASSERT_EQ(run(std::string(work) + zstd + " --out " + out).exit_code, 0);
    const auto whole = tree_of(path(out));
    const std::string command = std::string(work) + zstd + " --out disk/" + out;
    const Finished full = run(command);
    EXPECT_EQ(full.exit_code, 2);
    EXPECT_THAT(full.err, AllOf(HasSubstr("disk/" + out + "/"), HasSubstr("No space left on device")));
    std::size_t shards = 0;
    for (const auto& [name, text] : tree_of(path("disk/" + out))) {
      EXPECT_FALSE(name.ends_with(".partial") || name.ends_with(".tmp")) << name;
      if (name.find(".jsonl") == std::string::npos) continue;
      EXPECT_EQ(text == whole.at(name), true) << name;
      ++shards;
    }
    EXPECT_GT(shards, 4U);
    EXPECT_GT(finished_shards("disk/" + out), 1U);
    EXPECT_EQ(run(command).exit_code, 2) << "still full";
    resize("size=64m");
    const Finished again = run(command);
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(difference_of(tree_of(path("disk/" + out)), whole), "");
    std::filesystem::remove_all(path("disk/" + out));
  }
}

TEST_F(OracleDisk, full_from_the_start_is_refused) {
  write("disk/filler", "");
  shell("cat /dev/zero > disk/filler");
  const Finished finished = run(std::string(work) + " --out disk/d");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("disk/d"), HasSubstr("No space left on device")));
}

}  // namespace
}  // namespace fuselage

// Trajectories on disk: what is written is read, the same groups give the same bytes, and a file that is
// wrong in any way is refused with file, dataset and value.
#include "fuselage/learn/trajectory_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "error_of.h"

namespace fuselage::learn {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const Schema& tokens() {
  static const Schema schema("test.token", 1, {{"a", "bytes", "first"}, {"b", "cycles", "second"}});
  return schema;
}
const Schema& states() {
  static const Schema schema("test.state", 1, {{"s", "part", "state"}});
  return schema;
}
const Schema& workloads() {
  static const Schema schema("test.workload", 1, {{"w", "part", "machine"}});
  return schema;
}
TrajectorySchemas schemas() {
  return {.token = tokens(), .state = states(), .workload = workloads()};
}

TrajectoryManifest manifest(bool has_regret = false) {
  return {.program = "fuselage test",
          .family = "walk",
          .rules = "seed-honest",
          .kind = "mixed",
          .seed = 18'000'000'000'000'000'000U,
          .settings = "",
          .has_regret = has_regret};
}

Trajectory schedule(std::size_t n, double latency, bool has_regret = false) {
  Trajectory one = {.sampler = Sampler::mutated, .latency = latency};
  for (std::size_t i = 0; i < n; ++i) {
    one.tokens.insert(one.tokens.end(), {static_cast<float>(latency), static_cast<float>(i)});
    one.states.push_back(static_cast<float>(i) / 8);
    one.kernel.push_back(static_cast<std::int32_t>(i / 2));
    one.prefix_cost.push_back(i + 1 == n ? latency : static_cast<double>(i) * 1.1);
    if (has_regret) one.regret.push_back(i % 2 == 0 ? unproven_regret : 0.25);
  }
  one.states.push_back(1);
  return one;
}

TrajectoryGroup group(int number, bool has_regret = false) {
  TrajectoryGroup one = {.graph_hash = fmt::format("{:064x}", 1'000'000 + number),
                         .name = fmt::format("graph_{}", number),
                         .split = Split::train,
                         .mean_cycles = 100.5 + number,
                         .best = 10.25,
                         .proven = number % 2 == 0,
                         .workload = {0.5F + static_cast<float>(number)},
                         .schedules = {}};
  one.split = split_of(one.graph_hash);
  for (int i = 0; i < 2 + number; ++i)
    one.schedules.push_back(schedule(static_cast<std::size_t>(3 + i), 20.0 + i, has_regret));
  return one;
}

void expect_equal(const TrajectoryGroup& a, const TrajectoryGroup& b) {
  EXPECT_EQ(a.graph_hash, b.graph_hash);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.split, b.split);
  EXPECT_EQ(a.mean_cycles, b.mean_cycles);
  EXPECT_EQ(a.best, b.best);
  EXPECT_EQ(a.proven, b.proven);
  EXPECT_EQ(a.workload, b.workload);
  ASSERT_EQ(a.schedules.size(), b.schedules.size());
  for (std::size_t i = 0; i < a.schedules.size(); ++i) {
    EXPECT_EQ(a.schedules[i].sampler, b.schedules[i].sampler);
    EXPECT_EQ(a.schedules[i].latency, b.schedules[i].latency);
    EXPECT_EQ(a.schedules[i].tokens, b.schedules[i].tokens);
    EXPECT_EQ(a.schedules[i].states, b.schedules[i].states);
    EXPECT_EQ(a.schedules[i].kernel, b.schedules[i].kernel);
    EXPECT_EQ(a.schedules[i].prefix_cost, b.schedules[i].prefix_cost);
    EXPECT_EQ(a.schedules[i].regret, b.schedules[i].regret);
  }
}

class TrajectoryFiles : public testing::Test {
 protected:
  TrajectoryFiles() {
    std::string name = (fs::temp_directory_path() / "fuselage-traj-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~TrajectoryFiles() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  static std::string slurp(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void save(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string write(const std::string& name, int groups, bool has_regret = false) const {
    TrajectoryWriter writer(path(name), manifest(has_regret), schemas());
    for (int i = 0; i < groups; ++i) writer.add(group(i, has_regret));
    writer.finish();
    return path(name);
  }
  // The message for a file that is right but for what `damage` does to it.
  std::string refusal(const std::function<void(hid_t)>& damage, bool has_regret = false) const {
    const std::string file = write("damaged.h5", 3, has_regret);
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    damage(id);
    H5Fclose(id);
    return error_of([&] { read_trajectories(file, schemas()); });
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), {}));
  }

  fs::path directory_;
};

// Overwrites one number of a dataset.
template <class T>
void put(hid_t file, const char* dataset, hid_t type, std::size_t row, T value) {
  const hid_t id = H5Dopen2(file, dataset, H5P_DEFAULT);
  const hid_t space = H5Dget_space(id);
  const hsize_t start[] = {row, 0}, count[] = {1, 1};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
  const hid_t one = H5Screate(H5S_SCALAR);
  EXPECT_GE(H5Dwrite(id, type, one, space, H5P_DEFAULT, &value), 0);
  H5Sclose(one);
  H5Sclose(space);
  H5Dclose(id);
}

void resize(hid_t file, const char* dataset, hsize_t rows, hsize_t width = 0) {
  const hid_t id = H5Dopen2(file, dataset, H5P_DEFAULT);
  const hsize_t shape[] = {rows, width};
  EXPECT_GE(H5Dset_extent(id, shape), 0);
  H5Dclose(id);
}

void put_text(hid_t file, const char* attribute, const std::string& text) {
  H5Adelete(file, attribute);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, text.size());
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t id = H5Acreate2(file, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(id, type, text.data());
  H5Aclose(id);
  H5Sclose(space);
  H5Tclose(type);
}

TEST_F(TrajectoryFiles, what_is_written_is_read) {
  for (const bool has_regret : {false, true}) {
    const Trajectories all = read_trajectories(write("all.h5", 5, has_regret), schemas());
    EXPECT_EQ(all.manifest, manifest(has_regret));
    ASSERT_EQ(all.groups.size(), 5U);
    for (int i = 0; i < 5; ++i) expect_equal(all.groups[static_cast<std::size_t>(i)], group(i, has_regret));
  }
  EXPECT_TRUE(read_trajectories(write("none.h5", 0), schemas()).groups.empty());
}

TEST_F(TrajectoryFiles, the_same_groups_give_the_same_bytes) {
  const std::string first = slurp(write("a.h5", 20, true));
  ::sleep(1);  // times of creation count seconds
  EXPECT_EQ(first, slurp(write("b.h5", 20, true)));
  EXPECT_NE(first, slurp(write("c.h5", 21, true)));
}

TEST_F(TrajectoryFiles, only_a_finished_file_gets_its_name) {
  write("sub/all.h5", 1);
  const std::string before = slurp(path("sub/all.h5"));
  {
    TrajectoryWriter writer(path("sub/all.h5"), manifest(), schemas());
    writer.add(group(3));
    EXPECT_EQ(slurp(path("sub/all.h5")), before);
  }
  EXPECT_EQ(slurp(path("sub/all.h5")), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("sub")), {}), 1);
  EXPECT_THAT(error_of([&] { TrajectoryWriter(path("sub"), manifest(), schemas()); }),
              HasSubstr("is a directory"));
}

TEST_F(TrajectoryFiles, a_file_that_is_none_is_refused) {
  save("text.h5", "no HDF5 at all");
  EXPECT_EQ(error_of([&] { read_trajectories(path("text.h5"), schemas()); }),
            path("text.h5") + ": is no HDF5 file; expected one");
  EXPECT_THAT(error_of([&] { read_trajectories(path("missing.h5"), schemas()); }),
              StartsWith(path("missing.h5") + ": cannot be opened"));
  EXPECT_NE(error_of([&] { read_trajectories(directory_.string(), schemas()); }), "no error");
  save("empty.h5", "");
  EXPECT_EQ(error_of([&] { read_trajectories(path("empty.h5"), schemas()); }),
            path("empty.h5") + ": is no HDF5 file; expected one");

  const hid_t other = H5Fcreate(path("other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  EXPECT_EQ(error_of([&] { read_trajectories(path("other.h5"), schemas()); }),
            path("other.h5") + ": attribute format: missing; expected a trajectory file");
}

TEST_F(TrajectoryFiles, a_file_cut_anywhere_is_refused) {
  const std::string whole = slurp(write("whole.h5", 4));
  save("half.h5", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(error_of([&] { read_trajectories(path("half.h5"), schemas()); }),
            path("half.h5") + ": cannot be opened: the file is cut short or damaged; expected a whole one");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 997) {
    save("cut.h5", whole.substr(0, bytes));
    EXPECT_THAT(error_of([&] { read_trajectories(path("cut.h5"), schemas()); }), StartsWith(path("cut.h5")));
  }
}

// Flipped bits: an Error or the right numbers, never others.
TEST_F(TrajectoryFiles, damage_is_found) {
  const std::string whole = slurp(write("whole.h5", 2));
  const Trajectories right = read_trajectories(path("whole.h5"), schemas());
  int refused = 0;
  for (std::size_t at = whole.size() / 2; at < whole.size(); at += 211) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    save("bits.h5", bytes);
    try {
      const Trajectories read = read_trajectories(path("bits.h5"), schemas());
      ASSERT_EQ(read.groups.size(), right.groups.size());
      for (std::size_t g = 0; g < read.groups.size(); ++g)
        for (std::size_t i = 0; i < read.groups[g].schedules.size(); ++i)
          EXPECT_EQ(read.groups[g].schedules[i].tokens, right.groups[g].schedules[i].tokens);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(TrajectoryFiles, another_schema_is_refused) {
  const std::string file = write("all.h5", 1);
  const Schema newer("test.token", 2, {{"a", "bytes", "first"}, {"b", "cycles", "second"}});
  const std::string message = error_of(
      [&] { read_trajectories(file, {.token = newer, .state = states(), .workload = workloads()}); });
  EXPECT_EQ(message,
            fmt::format("{}: attribute token_schema: \"{}\"; expected \"{}\", as the fingerprint of "
                        "test.token version 2 begins: make the file anew",
                        file, tokens().fingerprint().substr(0, 16), newer.fingerprint().substr(0, 16)));
  EXPECT_THAT(error_of([&] {
                read_trajectories(file, {.token = tokens(), .state = workloads(), .workload = workloads()});
              }),
              HasSubstr("attribute state_schema"));
  EXPECT_THAT(error_of([&] {
                read_trajectories(file, {.token = tokens(), .state = states(), .workload = states()});
              }),
              HasSubstr("attribute workload_schema"));
}

TEST_F(TrajectoryFiles, attributes_that_are_wrong_are_refused) {
  EXPECT_THAT(refusal([](hid_t f) { put_text(f, "format", "fuselage-plans"); }),
              HasSubstr("attribute format: \"fuselage-plans\"; expected \"fuselage-trajectories\""));
  EXPECT_THAT(refusal([](hid_t f) { put_text(f, "format_version", "1"); }),
              HasSubstr("attribute format_version: is of another type; expected one integer"));
  EXPECT_THAT(refusal([](hid_t f) { H5Adelete(f, "rules"); }), HasSubstr("attribute rules: missing"));
  EXPECT_THAT(refusal([](hid_t f) { H5Adelete(f, "has_regret"); }),
              HasSubstr("attribute has_regret: missing"));
}

TEST_F(TrajectoryFiles, arrays_of_the_wrong_shape_are_refused) {
  // Three groups of 2, 3 and 4 schedules; 3+4, 3+4+5 and 3+4+5+6 tokens: 37.
  EXPECT_THAT(refusal([](hid_t f) { H5Ldelete(f, "tokens/features", H5P_DEFAULT); }),
              HasSubstr("tokens/features: missing; expected rows of 2 32-bit floats"));
  EXPECT_THAT(refusal([](hid_t f) { resize(f, "tokens/features", 36, 2); }),
              HasSubstr("tokens/features: has 36 rows; expected 37, as tokens/prefix_cost has"));
  EXPECT_THAT(refusal([](hid_t f) { resize(f, "schedules/latency", 8); }),
              HasSubstr("schedules/latency: has 8 rows; expected 9, the sum of groups/schedules"));
  EXPECT_THAT(refusal([](hid_t f) { resize(f, "groups/hash", 4); }),
              HasSubstr("groups/hash: has 4 rows; expected 3, one a group"));
  EXPECT_THAT(refusal([](hid_t f) { resize(f, "states/features", 45, 1); }),
              HasSubstr("states/features: has 45 rows; expected 46, one a token and one a schedule"));
  EXPECT_THAT(refusal([](hid_t f) {
                H5Ldelete(f, "tokens/kernel", H5P_DEFAULT);
                H5Lcreate_soft("/tokens/prefix_cost", f, "tokens/kernel", H5P_DEFAULT, H5P_DEFAULT);
              }),
              HasSubstr("tokens/kernel: has another type; expected a list of 32-bit integers"));
  EXPECT_THAT(refusal([](hid_t f) {
                H5Ldelete(f, "states/features", H5P_DEFAULT);
                H5Lcreate_soft("/tokens/features", f, "states/features", H5P_DEFAULT, H5P_DEFAULT);
              }),
              HasSubstr("states/features: has rows of 2; expected rows of 1 32-bit floats"));
}

TEST_F(TrajectoryFiles, sizes_that_do_not_add_up_are_refused) {
  const auto int32 = H5T_NATIVE_INT32;
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/schedules", int32, 1, 1); }),
              HasSubstr("groups/schedules: group 1: is 1; expected 2 to 1000000"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/schedules", int32, 1, -3); }),
              HasSubstr("groups/schedules: group 1: is -3"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/schedules", int32, 1, 4); }),
              HasSubstr("schedules/tokens: has 9 rows; expected 10"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "schedules/tokens", int32, 0, 0); }),
              HasSubstr("schedules/tokens: row 0: is 0; expected 1 or more"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "schedules/tokens", int32, 0, 2'000'000'000); }),
              HasSubstr("schedules/tokens: group 0: the sum is 2000000004; expected at most 37"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "schedules/tokens", int32, 8, 5); }),
              HasSubstr("schedules/tokens: group 2: the sum is 17; expected exactly 18"));
}

TEST_F(TrajectoryFiles, numbers_that_cannot_be_are_refused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto f32 = H5T_NATIVE_FLOAT;
  const auto f64 = H5T_NATIVE_DOUBLE;
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "tokens/features", f32, 8, nan); }),
              HasSubstr("tokens/features: group 1: schedule 0: holds nan; expected finite numbers"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "states/features", f32, 0, HUGE_VALF); }),
              HasSubstr("states/features: group 0: schedule 0: holds inf; expected finite numbers"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/workload", f32, 2, nan); }),
              HasSubstr("groups/workload: group 2: number 0 is nan"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/mean_cycles", f64, 0, -1.0); }),
              HasSubstr("groups/mean_cycles: group 0: is -1; expected a finite number >= 0"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/best", f64, 0, HUGE_VAL); }),
              HasSubstr("groups/best: group 0: is inf"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "tokens/prefix_cost", f64, 0, -2.0); }),
              HasSubstr("tokens/prefix_cost: group 0: schedule 0: is -2"));
  EXPECT_THAT(
      refusal([&](hid_t f) { put(f, "tokens/prefix_cost", f64, 2, 3.0); }),
      HasSubstr("tokens/prefix_cost: group 0: schedule 0: the last is 3; expected 20, the schedule's"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "schedules/sampler", H5T_NATIVE_UINT8, 1, std::uint8_t{4}); }),
              HasSubstr("schedules/sampler: group 0: schedule 1: is 4; expected 0 to 3"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/split", H5T_NATIVE_UINT8, 0, std::uint8_t{9}); }),
              HasSubstr("groups/split: group 0: is 9; expected "));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "groups/proven", H5T_NATIVE_UINT8, 0, std::uint8_t{2}); }),
              HasSubstr("groups/proven: group 0: is 2; expected 0 or 1"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "tokens/kernel", H5T_NATIVE_INT32, 2, 3); }),
              HasSubstr("tokens/kernel: group 0: schedule 0: 3 after 0; expected 0 or 1"));
  EXPECT_THAT(refusal([&](hid_t f) { put(f, "tokens/kernel", H5T_NATIVE_INT32, 0, 1); }),
              HasSubstr("tokens/kernel: group 0: schedule 0: 1 after -1; expected 0"));
  EXPECT_THAT(
      refusal([&](hid_t f) { put(f, "tokens/regret", f64, 1, -0.5); }, true),
      HasSubstr("tokens/regret: group 0: schedule 0: holds -0.5; expected finite numbers >= 0, or -1"));
}

TEST_F(TrajectoryFiles, a_writer_refuses_what_a_reader_would) {
  TrajectoryWriter writer(path("all.h5"), manifest(), schemas());
  writer.add(group(0));
  TrajectoryGroup one = group(1);
  one.schedules.resize(1);
  EXPECT_EQ(
      error_of([&] { writer.add(one); }),
      path("all.h5") +
          ": groups/schedules: group 1: is 1; expected 2 or more: one schedule alone can't be compared");
  one = group(1);
  one.schedules[1].tokens.pop_back();
  EXPECT_THAT(error_of([&] { writer.add(one); }),
              HasSubstr("tokens/features: group 1: schedule 1: has 7 numbers; expected 8"));
  one = group(1);
  one.graph_hash[3] = 'X';
  EXPECT_THAT(error_of([&] { writer.add(one); }), HasSubstr("groups/hash: group 1: is no hash"));
  EXPECT_THAT(error_of([&] { writer.add(group(1, true)); }), HasSubstr("tokens/regret"));
}

TEST(Split, is_eight_one_one_and_the_same_everywhere) {
  std::array<int, 3> count = {};
  for (int i = 0; i < 10'000; ++i) {
    const std::string hash =
        fmt::format("{:015x}{:049x}", 0x9e3779b97f4a7c15ULL * static_cast<unsigned>(i) >> 4, 0);
    ++count[static_cast<std::size_t>(split_of(hash))];
  }
  EXPECT_NEAR(count[0], 8000, 150);
  EXPECT_NEAR(count[1], 1000, 100);
  EXPECT_NEAR(count[2], 1000, 100);
  EXPECT_EQ(split_of("000000000000050"), Split::validation);  // 80
  EXPECT_EQ(split_of("00000000000005a"), Split::test);        // 90
  EXPECT_EQ(split_of("00000000000004f"), Split::train);       // 79
}

}  // namespace
}  // namespace fuselage::learn

// Whatever a trajectory file holds, reading it ends in groups that go together or in an Error. The library
// that reads HDF5 is not ours and has faults of its own with files whose structure is damaged, so the input
// is not the file: it says what to do to a good one, through that library: other numbers, other sizes, other
// types, other shapes, other attributes, datasets and attributes that are missing.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/trajectory_file.h"
#include "own_directory.h"

using namespace fuselage;
using namespace fuselage::learn;

namespace {

const Schema token("fuzz.token", 1, {{"a", "bytes", "first"}, {"b", "cycles", "second"}});
const Schema state("fuzz.state", 1, {{"s", "part", "state"}});
const Schema workload("fuzz.workload", 1, {{"w", "part", "machine"}});
const TrajectorySchemas schemas = {.token = token, .state = state, .workload = workload};

constexpr std::array datasets = {
    "groups/hash",        "groups/name",        "groups/split",      "groups/schedules",
    "groups/mean_cycles", "groups/best",        "groups/proven",     "groups/workload",
    "schedules/tokens",   "schedules/sampler",  "schedules/latency", "tokens/features",
    "tokens/kernel",      "tokens/prefix_cost", "tokens/regret",     "states/features"};
constexpr std::array attributes = {
    "format", "format_version", "token_schema", "state_schema", "workload_schema", "program",
    "family", "rules",          "kind",         "seed",         "settings",        "has_regret"};

// A file of two groups.
std::string good_file() {
  const std::string path = own_directory() + "/good.h5";
  {
    TrajectoryWriter writer(path,
                            {.program = "fuzz",
                             .family = "walk",
                             .rules = "seed-honest",
                             .kind = "mixed",
                             .seed = 1,
                             .settings = "",
                             .has_regret = true},
                            schemas);
    for (int g = 0; g < 2; ++g) {
      TrajectoryGroup group{.graph_hash = fmt::format("{:064x}", 7 + g),
                            .name = "graph",
                            .mean_cycles = 10,
                            .best = 4,
                            .proven = true,
                            .workload = {1},
                            .schedules = {}};
      group.split = split_of(group.graph_hash);
      for (int s = 0; s < 2; ++s) {
        Trajectory one{.sampler = Sampler::mutated, .latency = 5.0 + s};
        for (int t = 0; t < 3; ++t) {
          one.tokens.insert(one.tokens.end(), {1, 2});
          one.states.push_back(0.5);
          one.kernel.push_back(t / 2);
          one.prefix_cost.push_back(t == 2 ? one.latency : 1.0 + t);
          one.regret.push_back(t == 0 ? unproven_regret : 0.25);
        }
        one.states.push_back(1);
        group.schedules.push_back(one);
      }
      writer.add(group);
    }
    writer.finish();
  }
  return read_file(path);
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data, size) {}
  bool more() const { return !data_.empty(); }
  std::uint8_t byte() {
    if (data_.empty()) return 0;
    const std::uint8_t b = data_.front();
    data_ = data_.subspan(1);
    return b;
  }
  std::uint32_t word() { return byte() | static_cast<std::uint32_t>(byte()) << 8; }
  // 0 … 2²⁴, small ones more often.
  hsize_t size() {
    const std::uint32_t low = word();
    return static_cast<hsize_t>(low) << std::min<std::uint32_t>(byte() % 32U, 8U) >> 8;
  }

 private:
  std::span<const std::uint8_t> data_;
};

hid_t type_of(Input& input) {
  const std::array<hid_t, 9> numbers = {H5T_STD_U8LE,   H5T_STD_I32LE, H5T_IEEE_F32LE,
                                        H5T_IEEE_F64LE, H5T_STD_U64LE, H5T_STD_I32BE,
                                        H5T_IEEE_F64BE, H5T_STD_I16LE, H5T_STD_B8LE};
  const std::uint8_t kind = input.byte();
  if (kind % 4 != 3) return H5Tcopy(numbers[kind / 4 % numbers.size()]);
  const hid_t text = H5Tcopy(H5T_C_S1);
  const std::uint32_t length = input.word();
  H5Tset_size(text, length == 0 ? H5T_VARIABLE : length);
  return text;
}

hid_t space_of(Input& input) {
  const std::uint8_t kind = input.byte();
  if (kind % 8 == 7) return H5Screate(H5S_NULL);
  std::array<hsize_t, 3> shape = {};
  for (int i = 0; i < kind % 4; ++i)
    shape[static_cast<std::size_t>(i)] = input.byte() % (kind % 4 == 1 ? 64U : 8U);
  return H5Screate_simple(kind % 4, shape.data(), nullptr);
}

// Of all elements; 0 if they are no plain numbers and texts, or too many to be worth it.
std::size_t plain_bytes(hid_t type, hid_t space) {
  constexpr std::size_t most = std::size_t{1} << 17;  // more than a reader takes of an attribute
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  if (points <= 0 || H5Tis_variable_str(type) > 0) return 0;
  const std::size_t bytes = static_cast<std::size_t>(points) * H5Tget_size(type);
  return bytes <= most ? bytes : 0;
}

// Other bytes in the numbers of a dataset.
void overwrite(hid_t file, Input& input) {
  const hid_t set = H5Dopen2(file, datasets[input.byte() % datasets.size()], H5P_DEFAULT);
  if (set < 0) return;
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  std::vector<char> bytes(plain_bytes(type, space));
  if (!bytes.empty() && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0) {
    const std::size_t at = input.word() % bytes.size();
    const std::size_t count = std::min<std::size_t>(input.byte() % 9U, bytes.size() - at);
    for (std::size_t i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(input.byte());
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
}

void resize(hid_t file, Input& input) {
  const hid_t set = H5Dopen2(file, datasets[input.byte() % datasets.size()], H5P_DEFAULT);
  if (set < 0) return;
  const hid_t space = H5Dget_space(set);
  std::array<hsize_t, 3> shape = {};
  if (H5Sget_simple_extent_dims(space, shape.data(), nullptr) > 0) {
    shape[0] = input.size();
    H5Dset_extent(set, shape.data());
  }
  H5Sclose(space);
  H5Dclose(set);
}

void replace(hid_t file, Input& input) {
  const char* name = datasets[input.byte() % datasets.size()];
  H5Ldelete(file, name, H5P_DEFAULT);
  const std::uint8_t how = input.byte();
  if (how % 8 == 0) return;
  if (how % 8 == 1) {
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return;
  }
  if (how % 8 == 2) {
    H5Lcreate_soft(datasets[input.byte() % datasets.size()], file, name, H5P_DEFAULT, H5P_DEFAULT);
    return;
  }
  const hid_t type = type_of(input), space = space_of(input);
  H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Tclose(type);
}

void replace_attribute(hid_t file, Input& input) {
  const char* name = attributes[input.byte() % attributes.size()];
  H5Adelete(file, name);
  if (input.byte() % 8 == 0) return;
  const hid_t type = type_of(input), space = space_of(input);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  std::vector<char> bytes(plain_bytes(type, space));
  for (char& b : bytes) b = static_cast<char>(input.byte());
  if (attribute >= 0 && !bytes.empty()) H5Awrite(attribute, type, bytes.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void damage(const std::string& path, Input& input) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) std::abort();
  for (int i = 0; i < 16 && input.more(); ++i) {
    switch (input.byte() % 4) {
      case 0:
        overwrite(file, input);
        break;
      case 1:
        resize(file, input);
        break;
      case 2:
        replace(file, input);
        break;
      default:
        replace_attribute(file, input);
    }
  }
  H5Fclose(file);
}

void read(const std::string& path, bool is_good) {
  try {
    TrajectoryReader reader(path, schemas);
    Schedules schedules;
    schedules.features = static_cast<Index>(token.size());
    schedules.facts = static_cast<Index>(workload.size());
    std::size_t groups = 0;
    for (TrajectoryGroup group; reader.next(group); ++groups) append_group(group, schedules);
    if (groups != reader.groups() || schedules.groups() != groups) std::abort();
    if (schedules.tokens.size() != schedules.increments.size() * token.size()) std::abort();
  } catch (const Error& error) {
    if (!is_good) return;
    fmt::print(stderr, "{}\n", error.what());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static const std::string good = good_file();
  static const std::string path = own_directory() + "/fuzz.h5";
  Input input(data, size);
  std::ofstream(path, std::ios::binary) << good;
  damage(path, input);
  read(path, size == 0);
  return 0;
}

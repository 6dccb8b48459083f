// Data sets are for Python: every format is loaded there, with json and pandas, if Debian's packages are
// here.
#include <gmock/gmock.h>

#include "e2e/command.h"

namespace fuselage {
namespace {

using testing::HasSubstr;

constexpr const char* python = "/usr/bin/python3";
constexpr const char* formats = "sft,prompt-completion,dpo,kto,grpo,prm,raw";

class OraclePython : public CommandTest {
 protected:
  void SetUp() override {
    if (shell(fmt::format("{} -c 'import pandas, zstandard'", python)).exit_code != 0)
      GTEST_SKIP() << python << " has no pandas or no zstandard (python3-pandas, python3-zstandard)";
  }
  void expect_loads(const std::string& options) const {
    ASSERT_EQ(run(fmt::format("oracle --format {} {} --out d", formats, options)).exit_code, 0);
    const Finished finished =
        shell(fmt::format("{} '{}/tests/python/check_dataset.py' d", python, FUSELAGE_SOURCE_DIR));
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("prompt-completion"));
    std::filesystem::remove_all(path("d"));
  }
};

// 2,000 rows of most formats.
TEST_F(OraclePython, loads_every_format) {
  expect_loads(
      "--graphs 60 --ops 2-24 --policy optimal,random,eps0.3 --shard-size 30 --tasks task3_attention");
}

TEST_F(OraclePython, loads_compressed_and_plain_prompts_and_what_is_not_proven) {
  expect_loads("--graphs 12 --ops 4-10 --plain --zstd");
  expect_loads("--graphs 8 --kind memory-bound --ops 10-16 --steps 20 --rules seed");
}

// Zero cost, a single node, names that look like numbers: what may turn a column into another type.
TEST_F(OraclePython, loads_odd_graphs) {
  write("odd.json",
        R"({"name": "7", "nodes": [{"id": 0, "op": "relu", "shape": [1, 1], "inputs": [], "flops": 0},
      {"id": 1, "op": "relu", "shape": [1, 1], "inputs": [0], "flops": 0}], "hardware": {"fast_mem_capacity": 4096,
      "slow_mem_bandwidth": 0, "kernel_launch_cost": 0, "max_fusion_depth": 2}})");
  expect_loads("--input odd.json");
}

// The check itself can fail.
TEST_F(OraclePython, finds_a_row_of_another_schema) {
  ASSERT_EQ(run("oracle --graphs 4 --ops 4-4 --shard-size 4 --out d").exit_code, 0);
  shell("sed -i '2s/\"ops\": 4/\"ops\": 4.0/' d/sft/train-00000-of-00001.jsonl");
  const Finished finished =
      shell(fmt::format("{} '{}/tests/python/check_dataset.py' d", python, FUSELAGE_SOURCE_DIR));
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("line 2: {'ops': ('integer', 'float')}"));
}

}  // namespace
}  // namespace fuselage

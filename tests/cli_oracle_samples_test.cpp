// The samples in datasets/samples are what their command makes now.
#include <gmock/gmock.h>

#include "data_sets.h"
#include "e2e/command.h"
#include "fuselage/oracle/data_rows.h"

namespace fuselage {
namespace {

class OracleSamples : public CommandTest {};

TEST_F(OracleSamples, are_made_again_to_the_byte) {
  const std::filesystem::path samples = FUSELAGE_SOURCE_DIR "/datasets/samples";
  std::filesystem::create_directory(path("again"));
  const Finished made = shell(fmt::format("sh '{}/make.sh' \"$FUSELAGE\" again", samples.string()));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const std::string_view format : oracle::row_format_names) {
    const std::string name = std::string(format) + ".jsonl";
    const std::string text = file_text(samples / name);
    EXPECT_EQ(read("again/" + name) == text, true) << name << " differs";
    EXPECT_EQ(rows_in(text).size(), format == "graphs" ? 2U : 6U) << name;
    EXPECT_LT(text.size(), 30'000U) << name;
  }
}

}  // namespace
}  // namespace fuselage

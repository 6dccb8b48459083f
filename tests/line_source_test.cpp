// Lines of files of any size, plain and compressed; and JSON that is written without building values.

#include "fuselage/core/line_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "e2e/command.h"
#include "error_of.h"
#include "fuselage/core/json.h"
#include "fuselage/core/json_append.h"
#include "fuselage/core/output_file.h"
#include "random_graphs.h"

namespace fuselage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LineSourceTest : public CommandTest {
 protected:
  std::string name(const std::string& file) const { return path(file).string(); }
  void write_zst(const std::string& file, const std::string& text) const {
    OutputFile out(name(file), true);
    out.write(text);
    out.finish();
    out.publish();
  }
  std::vector<std::string> lines_of(const std::string& file) const {
    LineSource source(name(file));
    std::vector<std::string> read;
    while (const std::string* line = source.next()) read.push_back(*line);
    return read;
  }
};

TEST_F(LineSourceTest, ends_of_lines_and_of_files) {
  for (const char* file : {"a", "a.zst"}) {
    const auto put = [&](const std::string& text) {
      if (std::string(file) == "a")
        write(file, text);
      else
        write_zst(file, text);
    };
    put("one\n\nthree\r\nfour");
    EXPECT_THAT(lines_of(file), ElementsAre("one", "", "three\r", "four"));
    put("\n");
    EXPECT_THAT(lines_of(file), ElementsAre(""));
    put("");
    EXPECT_TRUE(lines_of(file).empty());
  }
}

TEST_F(LineSourceTest, lines_of_any_length_across_blocks) {
  Dice dice(3);
  std::vector<std::string> wanted;
  std::string text;
  for (int i = 0; i < 60; ++i) {
    wanted.emplace_back(static_cast<std::size_t>(dice.pick({0, 1, 100, 262'143, 262'144, 262'145, 300'000})),
                        static_cast<char>('a' + i % 26));
    text += wanted.back() + "\n";
  }
  write("a", text);
  write_zst("a.zst", text);
  EXPECT_EQ(lines_of("a"), wanted);
  EXPECT_EQ(lines_of("a.zst"), wanted);
}

TEST_F(LineSourceTest, hashes_what_is_on_the_disk) {
  write_zst("a.zst", "one\ntwo\n");
  LineSource source(name("a.zst"));
  while (source.next() != nullptr) {
  }
  EXPECT_EQ(source.sha256(), sha256_hex(read("a.zst")));
  EXPECT_EQ(source.bytes(), std::filesystem::file_size(path("a.zst")));
}

TEST_F(LineSourceTest, refuses_what_cannot_be_read) {
  EXPECT_THAT(error_of([&] { lines_of("none"); }), HasSubstr("none: cannot be opened"));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(error_of([&] { lines_of("folder"); }), HasSubstr("folder: cannot be"));
  write("plain.zst", "this is no frame\n");
  EXPECT_THAT(error_of([&] { lines_of("plain.zst"); }), HasSubstr("expected a .zst file"));
  write_zst("whole.zst", std::string(10'000, 'x') + "\nend\n");
  const std::string whole = read("whole.zst");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    write("cut.zst", whole.substr(0, cut));
    EXPECT_THAT(error_of([&] { lines_of("cut.zst"); }), HasSubstr("cut.zst: ends within a frame")) << cut;
  }
}

TEST_F(LineSourceTest, refuses_a_pipe_whose_other_side_may_never_come) {
  ASSERT_EQ(shell("mkfifo pipe").exit_code, 0);
  EXPECT_THAT(error_of([&] { lines_of("pipe"); }), HasSubstr("is a pipe or a device"));
}

TEST_F(LineSourceTest, refuses_a_line_without_end) {
  write("long", "");
  std::filesystem::resize_file(path("long"), LineSource::max_line_bytes + (std::size_t{1} << 19));
  EXPECT_THAT(error_of([&] { lines_of("long"); }), HasSubstr("long: a line is longer than 67108864 bytes"));
}

TEST(JsonAppend, is_what_a_json_library_writes) {
  std::string all;
  for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
  for (const std::string& text : {std::string(), all, std::string("\0x", 2), std::string("é → 𝄞 \"\\/")}) {
    std::string out = "before ";
    append_json_string(out, text);
    EXPECT_EQ(Json::parse(out.substr(7)).get<std::string>(), text);
    EXPECT_EQ(out.substr(7), Json(text).dump());
  }
}

TEST(JsonAppend, numbers_stay_themselves_and_are_never_integers) {
  for (double value : {0.0, -0.0, 1.0, -3.0, 1e16, 1e22, 123456789012.0, 0.1, 1e-7, 2.5e300, 5e-324,
                       std::numeric_limits<double>::max()}) {
    std::string out;
    append_json_number(out, value);
    const Json back = Json::parse(out);
    EXPECT_TRUE(back.is_number_float()) << out;
    EXPECT_EQ(back.get<double>(), value) << out;
  }
}

}  // namespace
}  // namespace fuselage

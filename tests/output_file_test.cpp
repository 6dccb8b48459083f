// A large file appears whole or not at all.

#include "fuselage/core/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "e2e/command.h"
#include "error_of.h"
#include "fuselage/core/line_source.h"

namespace fuselage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OutputFileTest : public CommandTest {
 protected:
  std::string name(const std::string& file) const { return path(file).string(); }
};

TEST_F(OutputFileTest, has_its_name_once_it_is_published) {
  OutputFile file(name("a.txt"), false);
  file.write("one\n");
  file.write("two\n");
  EXPECT_THAT(list("."), ElementsAre(".a.txt.partial"));
  const OutputFile::Content content = file.finish();
  EXPECT_THAT(list("."), ElementsAre(".a.txt.partial"));
  file.publish();
  EXPECT_THAT(list("."), ElementsAre("a.txt"));
  EXPECT_EQ(read("a.txt"), "one\ntwo\n");
  EXPECT_EQ(content.bytes, 8U);
  EXPECT_EQ(content.sha256, sha256_hex("one\ntwo\n"));
}

TEST_F(OutputFileTest, leaves_nothing_unless_it_is_published) {
  write("a.txt", "old");
  {
    OutputFile file(name("a.txt"), false);
    file.write("new");
  }
  {
    OutputFile file(name("a.txt"), true);
    file.write("new");
    file.finish();
  }
  EXPECT_THAT(list("."), ElementsAre("a.txt"));
  EXPECT_EQ(read("a.txt"), "old");
}

TEST_F(OutputFileTest, replaces_what_a_killed_writer_left) {
  write(".a.txt.partial", "a much longer text than what comes");
  OutputFile file(name("a.txt"), false);
  file.write("short");
  file.finish();
  file.publish();
  EXPECT_EQ(read("a.txt"), "short");
  EXPECT_THAT(list("."), ElementsAre("a.txt"));
}

TEST_F(OutputFileTest, compressed_is_read_back_and_is_the_same_each_time) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 1009) + "\n";
  for (const char* to : {"a.zst", "b.zst"}) {
    OutputFile file(name(to), true);
    for (std::size_t at = 0; at < text.size(); at += 99'991)
      file.write(std::string_view(text).substr(at, 99'991));
    const OutputFile::Content content = file.finish();
    file.publish();
    EXPECT_EQ(content.bytes, std::filesystem::file_size(path(to)));
    EXPECT_EQ(content.sha256, sha256_hex(read(to)));
    EXPECT_LT(content.bytes, text.size() / 3);
  }
  EXPECT_EQ(read("a.zst"), read("b.zst"));
  LineSource lines(name("a.zst"));
  std::string back;
  while (const std::string* line = lines.next()) back += *line + "\n";
  EXPECT_EQ(back, text);
}

TEST_F(OutputFileTest, of_nothing_is_an_empty_file) {
  for (const bool zstd : {false, true}) {
    OutputFile file(name("a.zst"), zstd);
    file.finish();
    file.publish();
    EXPECT_EQ(std::filesystem::file_size(path("a.zst")) > 0, zstd);
  }
  LineSource lines(name("a.zst"));
  EXPECT_EQ(lines.next(), nullptr);
}

TEST_F(OutputFileTest, that_cannot_be_made_or_named_is_refused) {
  EXPECT_THAT(error_of([&] { OutputFile(name("none/a.txt"), false); }),
              testing::AllOf(HasSubstr("none/a.txt"), HasSubstr("No such file or directory")));
  std::filesystem::create_directories(path("a.txt/inside"));
  OutputFile file(name("a.txt"), false);
  file.write("text");
  file.finish();
  EXPECT_THAT(error_of([&] { file.publish(); }), HasSubstr("a.txt: cannot be written"));
}

// A limit on file sizes fails a write as a full disk does.
TEST_F(OutputFileTest, that_grows_too_large_names_the_file_and_leaves_nothing) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = error_of([&] {
    OutputFile file(name("a.txt"), false);
    file.write(std::string(150'000, 'x'));
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(said, HasSubstr("a.txt: cannot be written: File too large; expected"));
  EXPECT_TRUE(list(".").empty());
}

}  // namespace
}  // namespace fuselage

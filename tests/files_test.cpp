#include "fuselage/core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "error_of.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fuselage-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(Files, ReadsWhatWasWritten) {
  const std::string text("line\n\0\xff", 7);
  write_file_atomically(path("a.json"), text);
  EXPECT_EQ(read_file(path("a.json")), text);
  write_file_atomically(path("a.json"), "");
  EXPECT_EQ(read_file(path("a.json")), "");
  EXPECT_EQ(count(), 1U) << "temporary files are left";
}

TEST_F(Files, MakesParentDirectories) {
  write_file_atomically(path("new/and/deeper/a.json"), "text");
  EXPECT_EQ(read_file(path("new/and/deeper/a.json")), "text");
}

TEST_F(Files, ReplacesAFileThatIsBeingReadWithoutDisturbingTheReader) {
  write_file_atomically(path("a.json"), "old");
  std::ifstream reader(path("a.json"));
  write_file_atomically(path("a.json"), "new and longer");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(read_file(path("a.json")), "new and longer");
}

TEST_F(Files, MissingFileIsNamed) {
  EXPECT_THAT(error_of([&] { read_file(path("none.json")); }),
              AllOf(HasSubstr(path("none.json")), HasSubstr("No such file"), HasSubstr("expected")));
  EXPECT_THAT(error_of([&] { read_file(""); }), HasSubstr("No such file"));
}

TEST_F(Files, DirectoryIsNoFile) {
  EXPECT_THAT(error_of([&] { read_file(path("")); }), HasSubstr("is a directory"));
  fs::create_directory(path("taken"));
  EXPECT_THAT(error_of([&] { write_file_atomically(path("taken"), "text"); }),
              AllOf(HasSubstr("taken"), HasSubstr("directory")));
  EXPECT_EQ(count(), 1U) << "the temporary file is left";
}

TEST_F(Files, UnreadableFileIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write_file_atomically(path("secret"), "text");
  chmod(path("secret").c_str(), 0);
  EXPECT_THAT(error_of([&] { read_file(path("secret")); }), HasSubstr("Permission denied"));
}

TEST_F(Files, ParentThatIsAFileIsRefused) {
  write_file_atomically(path("file"), "text");
  EXPECT_THAT(error_of([&] { write_file_atomically(path("file/a.json"), "text"); }), HasSubstr("directory"));
  EXPECT_EQ(read_file(path("file")), "text");
}

TEST_F(Files, EndlessFileIsRefused) {
  EXPECT_THAT(error_of([&] { read_file("/dev/zero"); }),
              AllOf(HasSubstr("/dev/zero"), HasSubstr("longer than")));
}

TEST_F(Files, DirectoryThatCannotBeMadeIsNamed) {
  EXPECT_THAT(error_of([&] { write_file_atomically("/proc/self/fuselage/a.json", "text"); }),
              HasSubstr("/proc/self/fuselage"));
}

TEST_F(Files, DashIsTheStandardInput) {
  write_file_atomically(path("in"), "from stdin");
  const int saved = dup(STDIN_FILENO);
  std::FILE* const in = std::fopen(path("in").c_str(), "r");
  dup2(fileno(in), STDIN_FILENO);
  EXPECT_EQ(read_file("-"), "from stdin");
  dup2(saved, STDIN_FILENO);
  std::fclose(in);
  close(saved);
  EXPECT_EQ(source_name("-"), "stdin");
  EXPECT_EQ(source_name("a/b.json"), "a/b.json");
}

}  // namespace
}  // namespace fuselage

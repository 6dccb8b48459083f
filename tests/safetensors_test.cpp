#include "fuselage/learn/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/files.h"

namespace fuselage::learn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Shape = std::vector<std::uint64_t>;

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string refusal(const std::string& bytes) {
  return error_of([&] { TensorFile(bytes, "m.safetensors"); });
}

std::string refusal(const std::string& header, std::size_t data) {
  return refusal(file_of(header, std::string(data, '\0')));
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

TensorWriter example() {
  TensorWriter writer;
  writer.add("b.weight", Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, -6.5F});
  writer.add("a \"quoted\" é", Shape{}, std::vector<double>{0.1});
  writer.add("none", Shape{0, 4}, std::vector<float>{});
  writer.note("kind", "scorer");
  return writer;
}

TEST(Safetensors, ReadsWhatIsWritten) {
  const TensorFile file(example().bytes(), "m.safetensors");
  EXPECT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.floats("b.weight", Shape{2, 3}), (std::vector<float>{1, 2, 3, 4, 5, -6.5F}));
  EXPECT_EQ(file.doubles("a \"quoted\" é", Shape{}), (std::vector<double>{0.1}));
  EXPECT_TRUE(file.floats("none", Shape{0, 4}).empty());
  EXPECT_EQ(file.note("kind"), "scorer");
  EXPECT_TRUE(file.has("none"));
  EXPECT_FALSE(file.has("kind"));
}

// Byte for byte what the reference writes: numbers are little endian and begin at a multiple of eight.
TEST(Safetensors, TheFormat) {
  TensorWriter writer;
  writer.add("x", Shape{1, 2}, std::vector<float>{1, -2});
  const std::string bytes = writer.bytes();
  const std::string header = R"({"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  ASSERT_EQ(header.size() % 8, 0U);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x38\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.substr(8 + header.size()), std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  EXPECT_EQ(example().bytes().find('\0', 8) % 8, 0U);
}

TEST(Safetensors, ReadsForeignFiles) {
  // Another order of names than of bytes, spaces, and types that are only looked at.
  const std::string header =
      R"( {"z": {"shape": [2], "dtype": "F32", "data_offsets": [0, 8]}, "y": {"dtype":"BF16","shape":[1,1],"data_offsets":[8,10]}}   )";
  const TensorFile file(file_of(header.substr(1), bytes_of<float>({1, 2}) + "ab"), "m.safetensors");
  EXPECT_EQ(file.tensors()[0].name, "z");
  EXPECT_EQ(file.tensors()[1].type, TensorType::bf16);
  EXPECT_EQ(file.floats("z", Shape{2}), (std::vector<float>{1, 2}));
}

TEST(Safetensors, RefusesHeaderLengths) {
  EXPECT_EQ(
      refusal("abc"),
      "m.safetensors: has 3 bytes; expected a safetensors file, which begins with 8 bytes of header length");
  EXPECT_EQ(refusal(std::string(8, '\xff') + "{}"),
            "m.safetensors: the header is said to have 18446744073709551615 bytes, and 2 are left; expected "
            "a whole "
            "safetensors file");
  EXPECT_THAT(refusal(std::string("\0\0\0\0\0\0\0\x80", 8) + "{}"), HasSubstr("9223372036854775808 bytes"));
  EXPECT_THAT(refusal(file_of("", "")), HasSubstr("the header begins with \"\"; expected an object"));
  EXPECT_THAT(refusal(file_of("[1]", "")), HasSubstr("the header begins with \"[\"; expected an object"));
  EXPECT_THAT(refusal(file_of(" {}", "")), HasSubstr("expected an object"));
  EXPECT_THAT(refusal(file_of(std::string((16 << 20) + 1, ' '), "")), HasSubstr("expected at most 16777216"));
  EXPECT_EQ(refusal(file_of("{}", "")), "no error");
}

// Every part of a file that is not all of it.
TEST(Safetensors, RefusesTruncatedFiles) {
  const std::string bytes = example().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(refusal(bytes.substr(0, size)), HasSubstr("m.safetensors: ")) << size;
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 1)),
              AllOf(HasSubstr("ends at byte 32, and the file has 31 bytes"), HasSubstr("quoted")));
  EXPECT_EQ(refusal(bytes + "xy"), "m.safetensors: 2 bytes follow the last tensor; expected none");
}

TEST(Safetensors, RefusesPlaces) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[)" + first +
           R"(]},"b":{"dtype":"F32","shape":[2],"data_offsets":[)" + second + "]}}";
  };
  EXPECT_EQ(refusal(two("0,8", "8,16"), 16), "no error");
  EXPECT_EQ(refusal(two("0,8", "4,12"), 12),
            "m.safetensors: tensor \"b\" begins at byte 4; expected 8, where the one before it ends");
  EXPECT_EQ(refusal(two("0,8", "0,8"), 8),
            "m.safetensors: tensor \"b\" begins at byte 0; expected 8, where the one before it ends");
  EXPECT_EQ(refusal(two("0,8", "12,20"), 20),
            "m.safetensors: tensor \"b\" begins at byte 12; expected 8, where the one before it ends");
  EXPECT_EQ(refusal(two("0,8", "8,12"), 12),
            "m.safetensors: b.data_offsets: [8, 12] hold 4 bytes; expected 8 for F32 [2]");
  EXPECT_THAT(refusal(two("8,0", "8,16"), 16), HasSubstr("a.data_offsets: [8, 0] ends before it begins"));
  EXPECT_THAT(refusal(two("0,8", "-8,0"), 8), HasSubstr("b.data_offsets[0]: -8 is negative"));
  EXPECT_THAT(refusal(two("0,8", "8"), 16), HasSubstr("expected two bytes' places"));
  EXPECT_THAT(refusal(two("0,8", "8,16.5"), 16), HasSubstr("b.data_offsets[1]: 16.5"));
  EXPECT_THAT(refusal(two("0,8", "9223372036854775800,9223372036854775808"), 16),
              HasSubstr("9223372036854775808"));
}

TEST(Safetensors, RefusesShapesAndTypes) {
  const auto one = [](const std::string& type, const std::string& shape, const std::string& rest = "") {
    return R"({"a":{"dtype":)" + type + R"(,"shape":)" + shape + R"(,"data_offsets":[0,8])" + rest + "}}";
  };
  EXPECT_EQ(refusal(one("\"F32\"", "[2]"), 8), "no error");
  EXPECT_EQ(refusal(one("\"F33\"", "[2]"), 8),
            "m.safetensors: a.dtype: \"F33\" is no known type; expected one of BOOL, U8, I8, U16, I16, F16, "
            "BF16, U32, "
            "I32, F32, U64, I64, F64");
  EXPECT_THAT(refusal(one("32", "[2]"), 8), HasSubstr("a.dtype: 32"));
  EXPECT_THAT(refusal(one("\"F32\"", "[-2]"), 8), HasSubstr("a.shape[0]: -2 is negative"));
  EXPECT_THAT(refusal(one("\"F32\"", "2"), 8), HasSubstr("a.shape: 2"));
  // 2⁶² numbers of four bytes are 0 modulo 2⁶⁴.
  EXPECT_THAT(refusal(one("\"F32\"", "[4294967296,1073741824]"), 8), HasSubstr("is too large"));
  EXPECT_THAT(refusal(one("\"F32\"", "[0,9223372036854775807]"), 8), HasSubstr("expected 0 for F32"));
  EXPECT_THAT(refusal(one("\"F32\"", "[2]", R"(,"extra":1)"), 8), HasSubstr("extra"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"F32","shape":[2]}})", 8), HasSubstr("data_offsets"));
  EXPECT_THAT(refusal(R"({"a":7})", 0), HasSubstr("a: 7"));
}

TEST(Safetensors, RefusesNamesTwiceAndNotesThatAreNoTexts) {
  EXPECT_THAT(
      refusal(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
          2),
      AllOf(HasSubstr("m.safetensors"), HasSubstr("\"a\" appears twice")));
  EXPECT_THAT(refusal(R"({"__metadata__":{"epoch":7}})", 0), HasSubstr("__metadata__.epoch: 7"));
  EXPECT_THAT(refusal(R"({"__metadata__":"text"})", 0), HasSubstr("__metadata__"));
  EXPECT_THAT(refusal(R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}", 0),
              HasSubstr("deeper"));
}

TEST(Safetensors, RefusesWhatIsAskedForAndNotThere) {
  const TensorFile file(example().bytes(), "m.safetensors");
  EXPECT_THAT(error_of([&] { file.floats("c", Shape{1}); }),
              AllOf(HasSubstr("m.safetensors: there is no tensor \"c\""), HasSubstr("b.weight")));
  EXPECT_EQ(error_of([&] {
              file.floats("b.weight", Shape{3, 2});
            }),
            "m.safetensors: tensor \"b.weight\" has shape [2, 3]; expected [3, 2]");
  EXPECT_EQ(error_of([&] {
              file.doubles("b.weight", Shape{2, 3});
            }),
            "m.safetensors: tensor \"b.weight\" is of type F32; expected F64");
  EXPECT_EQ(error_of([&] { file.note("seed"); }),
            "m.safetensors: there is no \"seed\" in __metadata__; expected a text");
}

TEST(Safetensors, RefusesNumbersThatAreNone) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})";
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const TensorFile file(file_of(header, bytes_of<float>({1, bad, 3})), "m.safetensors");
    EXPECT_EQ(error_of([&] { file.floats("w", Shape{3}); }),
              fmt::format("m.safetensors: tensor \"w\": number 1 of 3 is {}; expected a finite number", bad));
    TensorWriter writer;
    EXPECT_EQ(error_of([&] {
                writer.add("w", Shape{2}, std::vector<float>{1, bad});
              }),
              fmt::format("tensor \"w\": number 1 of 2 is {}; expected a finite number to write", bad));
  }
}

TEST(Safetensors, AFileIsWrittenWholeOrNotAtAll) {
  const auto directory = std::filesystem::temp_directory_path() / "fuselage-safetensors-test";
  std::filesystem::remove_all(directory);
  const std::string path = (directory / "m.safetensors").string();
  example().write(path);
  EXPECT_EQ(read_file(path), example().bytes());
  EXPECT_EQ(read_tensors(path).note("kind"), "scorer");
  std::filesystem::remove_all(directory);
  EXPECT_THAT(error_of([&] { read_tensors(path); }), HasSubstr("m.safetensors: cannot be opened"));
}

}  // namespace
}  // namespace fuselage::learn

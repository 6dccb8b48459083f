// The head for the cost to go: it learns, the same seed gives the same bytes, a file reads back exactly, and
// one that is wrong in any way is refused with its name.
#include "fuselage/learn/value_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/safetensors.h"
#include "fuselage/search/split_mix.h"

namespace fuselage::learn {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t width = 4;

struct Data {
  std::vector<float> rows;
  std::vector<float> targets;
};

// Inputs of very different scale, one of which never changes; targets far from 0.
Data example(std::size_t count, std::uint64_t seed) {
  search::SplitMix random(seed);
  Data data;
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>(random.unit()), b = static_cast<float>(2 * random.unit() - 1),
               c = static_cast<float>(2 * random.unit() - 1);
    data.rows.insert(data.rows.end(), {1000 * a, b, 0.01F * c, 7});
    data.targets.push_back(500 + 60 * a - 40 * b * c);
  }
  return data;
}

double mean_error(const ValueHead& head, const Data& data) {
  std::vector<float> answers(data.targets.size());
  ValueScratch scratch;
  head.ask(data.rows, answers, scratch);
  double sum = 0;
  for (std::size_t i = 0; i < answers.size(); ++i)
    sum += std::abs(static_cast<double>(answers[i]) - static_cast<double>(data.targets[i]));
  return sum / static_cast<double>(answers.size());
}

double constant_error(const Data& data) {
  const auto count = static_cast<double>(data.targets.size());
  const double mean = std::accumulate(data.targets.begin(), data.targets.end(), 0.0) / count;
  double sum = 0;
  for (float target : data.targets) sum += std::abs(static_cast<double>(target) - mean);
  return sum / count;
}

const ValueHead& trained() {
  static const ValueHead head = [] {
    ValueHead fresh({.inputs = width, .hidden = {32, 16}}, 3);
    const Data data = example(4000, 1);
    fresh.train(data.rows, data.targets, {.seed = 5, .epochs = 12, .batch = 64});
    return fresh;
  }();
  return head;
}

class ValueHeadFiles : public testing::Test {
 protected:
  ValueHeadFiles() {
    std::string name = (fs::temp_directory_path() / "fuselage-value-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~ValueHeadFiles() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  // How a file that is right but for `damage` is refused.
  std::string refusal(const std::function<void(std::map<std::string, std::vector<float>>&)>& damage) const {
    trained().save(path("whole"), fingerprints);
    const TensorFile whole = read_tensors(path("whole"));
    std::map<std::string, std::vector<float>> tensors;
    std::map<std::string, std::vector<std::uint64_t>> shapes;
    for (const auto& tensor : whole.tensors()) {
      tensors[tensor.name] = whole.floats(tensor.name, tensor.shape);
      shapes[tensor.name] = tensor.shape;
    }
    damage(tensors);
    TensorWriter writer;
    for (const auto& [key, text] : whole.notes()) writer.note(key, text);
    float none = 0;
    for (auto& [name, numbers] : tensors) {
      for (float& x : numbers)
        if (!std::isfinite(x)) none = std::exchange(x, stand_in);
      if (shapes[name].size() == 1) shapes[name] = {numbers.size()};
      writer.add(name, shapes[name], numbers);
    }
    std::string bytes = writer.bytes();
    for (std::size_t at; (at = bytes.find(bytes_of(stand_in))) != std::string::npos;)
      bytes.replace(at, sizeof none, bytes_of(none));
    write_file_atomically(path("damaged"), bytes);
    return error_of([&] { ValueHead::load(path("damaged"), fingerprints); });
  }

  // A writer takes no number that isn't finite, so it is put in afterwards.
  static constexpr float stand_in = 1.2345678e-20F;
  static std::string bytes_of(float x) {
    std::string bytes(sizeof x, '\0');
    std::memcpy(bytes.data(), &x, sizeof x);
    return bytes;
  }

  const ValueHead::Fingerprints fingerprints = {{"state", std::string(64, 'a')},
                                                {"token", std::string(64, 'b')}};
  fs::path directory_;
};

TEST(ValueHead, learns_what_it_has_not_seen) {
  const Data held_out = example(500, 2);
  EXPECT_LT(mean_error(trained(), held_out), 0.1 * constant_error(held_out));
  const ValueHead untrained({.inputs = width}, 3);
  EXPECT_GT(mean_error(untrained, held_out), constant_error(held_out));
}

TEST(ValueHead, says_what_its_last_epoch_erred_by) {
  ValueHead head({.inputs = width, .hidden = {32, 16}}, 3);
  const Data data = example(4000, 1);
  const double said = head.train(data.rows, data.targets, {.seed = 5, .epochs = 12, .batch = 64});
  EXPECT_NEAR(said, mean_error(head, data), 0.5 * said);
}

TEST(ValueHead, learns_a_constant_and_from_a_handful) {
  ValueHead head({.inputs = 1, .hidden = {}}, 1);
  const std::vector<float> rows = {1, 2, 3}, targets = {42, 42, 42};
  head.train(rows, targets, {.epochs = 2});
  std::vector<float> answer(1);
  ValueScratch scratch;
  head.ask(std::span(rows).first(1), answer, scratch);
  EXPECT_NEAR(answer[0], 42, 1.5);  // a scale of 1 where targets have none
}

TEST(ValueHead, answers_are_the_same_in_any_batch) {
  const Data data = example(77, 4);
  std::vector<float> all(77), one(1);
  ValueScratch scratch;
  trained().ask(data.rows, all, scratch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    trained().ask(std::span(data.rows).subspan(width * i, width), one, scratch);
    EXPECT_EQ(one[0], all[i]) << i;
  }
  trained().ask({}, {}, scratch);
}

TEST(ValueHead, refuses_data_that_does_not_add_up) {
  ValueHead head({.inputs = width}, 1);
  const std::vector<float> rows(7), targets(2), nine(9);
  EXPECT_EQ(error_of([&] { head.train(rows, targets, {}); }),
            "rows: 7 numbers; expected 8, 4 for each of 2 targets");
  EXPECT_EQ(error_of([&] { head.train(std::span(rows).first(4), std::span(targets).first(1), {}); }),
            "targets: there are 1; expected two or more");
}

TEST_F(ValueHeadFiles, the_same_seed_gives_the_same_bytes) {
  const Data data = example(600, 1);
  const auto bytes = [&](std::uint64_t shape_seed, std::uint64_t seed) {
    ValueHead head({.inputs = width}, shape_seed);
    head.train(data.rows, data.targets, {.seed = seed, .epochs = 2});
    head.save(path("head"), fingerprints);
    return read_file(path("head"));
  };
  const std::string first = bytes(1, 1);
  EXPECT_EQ(bytes(1, 1), first);
  EXPECT_NE(bytes(1, 2), first);
  EXPECT_NE(bytes(2, 1), first);
}

TEST_F(ValueHeadFiles, reads_back_exactly) {
  trained().save(path("head"), fingerprints);
  const ValueHead again = ValueHead::load(path("head"), fingerprints);
  EXPECT_EQ(again.inputs(), static_cast<Index>(width));
  const Data data = example(50, 6);
  std::vector<float> one(50), two(50);
  ValueScratch scratch;
  trained().ask(data.rows, one, scratch);
  again.ask(data.rows, two, scratch);
  EXPECT_EQ(one, two);
  again.save(path("again"), fingerprints);
  EXPECT_EQ(read_file(path("again")), read_file(path("head")));
}

TEST_F(ValueHeadFiles, refuses_what_was_trained_on_other_features) {
  trained().save(path("head"), fingerprints);
  ValueHead::Fingerprints other = fingerprints;
  other[1].second = std::string(64, 'c');
  EXPECT_EQ(error_of([&] { ValueHead::load(path("head"), other); }),
            fmt::format("{}: trained on the token schema {}; expected {}: train it again", path("head"),
                        fingerprints[1].second, other[1].second));
  other[1].first = "none";
  EXPECT_THAT(error_of([&] { ValueHead::load(path("head"), other); }),
              AllOf(HasSubstr(path("head")), HasSubstr("none")));
}

TEST_F(ValueHeadFiles, refuses_what_is_cut_short_or_something_else) {
  trained().save(path("head"), fingerprints);
  const std::string bytes = read_file(path("head"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2, bytes.size() - 1}) {
    write_file_atomically(path("cut"), bytes.substr(0, size));
    EXPECT_THAT(error_of([&] { ValueHead::load(path("cut"), fingerprints); }), HasSubstr(path("cut")))
        << size;
  }
  TensorWriter writer;
  writer.note("format", "something else");
  writer.write(path("other"));
  EXPECT_EQ(error_of([&] { ValueHead::load(path("other"), fingerprints); }),
            path("other") + ": the format is \"something else\"; expected \"fuselage value head 1\"");
  EXPECT_THAT(error_of([&] { ValueHead::load(path("missing"), fingerprints); }), HasSubstr(path("missing")));
}

TEST_F(ValueHeadFiles, refuses_numbers_that_are_none) {
  for (const char* tensor : {"input.mean", "input.inverse", "target"})
    for (const float wrong :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
      EXPECT_THAT(refusal([&](auto& tensors) { tensors.at(tensor)[0] = wrong; }),
                  AllOf(HasSubstr(path("damaged")), HasSubstr(tensor)));
  const std::string parameter = refusal([&](auto& tensors) {
    for (auto& [name, numbers] : tensors)
      if (name.find("head") != std::string::npos) numbers[0] = std::numeric_limits<float>::quiet_NaN();
  });
  EXPECT_THAT(parameter, AllOf(HasSubstr(path("damaged")), HasSubstr("head")));
  EXPECT_THAT(refusal([](auto& tensors) { tensors.erase("target"); }),
              AllOf(HasSubstr(path("damaged")), HasSubstr("target")));
}

TEST_F(ValueHeadFiles, refuses_a_scale_that_is_none) {
  for (const float wrong : {0.0F, -1.0F})
    EXPECT_THAT(refusal([&](auto& tensors) { tensors.at("target")[1] = wrong; }),
                AllOf(HasSubstr(path("damaged")), HasSubstr("target")))
        << wrong;
}

TEST_F(ValueHeadFiles, refuses_hostile_widths) {
  const auto with = [&](std::vector<float> widths) {
    return refusal([&](auto& tensors) { tensors.at("widths") = std::move(widths); });
  };
  for (const float wrong : {0.0F, -3.0F, 1.5F, 4096.0F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(with({wrong, 32, 16}), AllOf(HasSubstr(path("damaged")), HasSubstr("widths"))) << wrong;
    EXPECT_THAT(with({width, wrong, 16}), AllOf(HasSubstr(path("damaged")), HasSubstr("widths"))) << wrong;
  }
  EXPECT_THAT(with({}), AllOf(HasSubstr(path("damaged")), HasSubstr("widths")));
  EXPECT_THAT(with(std::vector<float>(10, 4)), AllOf(HasSubstr(path("damaged")), HasSubstr("1 to 9")));
  // Widths that are fine, of another network.
  EXPECT_THAT(with({width, 31, 16}), AllOf(HasSubstr(path("damaged")), HasSubstr("head")));
  EXPECT_THAT(with({width + 1, 32, 16}), AllOf(HasSubstr(path("damaged")), HasSubstr("input.mean")));
}

}  // namespace
}  // namespace fuselage::learn

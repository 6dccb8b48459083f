#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "error_of.h"
#include "fuselage/core/files.h"
#include "fuselage/learn/checkpoint.h"
#include "order_task.h"

namespace fuselage::learn {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LearnCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fuselage-checkpoint-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  fs::path directory_;
};

void save(const std::string& path, const OrderTraining& training) {
  save_checkpoint(path, training.parameters, training.adam, {{"seed", std::to_string(training.seed)}});
}

// Byte for byte: parameters, moments and all.
TEST_F(LearnCheckpoint, ATrainingGoesOnAsIfItHadNeverStopped) {
  OrderTraining whole(5);
  for (int i = 0; i < 30; ++i) whole.step();
  save(path("whole"), whole);

  OrderTraining first(5);
  for (int i = 0; i < 13; ++i) first.step();
  save(path("half"), first);
  OrderTraining second(77);  // other numbers, all of which the checkpoint replaces
  second.step();
  EXPECT_EQ(load_checkpoint(path("half"), second.parameters, second.adam), (TensorNotes{{"seed", "5"}}));
  second.seed = 5;
  EXPECT_EQ(second.adam.steps(), 13);
  save(path("half again"), second);
  EXPECT_EQ(read_file(path("half again")), read_file(path("half")));
  for (int i = 0; i < 17; ++i) second.step();
  save(path("second"), second);
  EXPECT_EQ(read_file(path("second")), read_file(path("whole")));
  EXPECT_NE(read_file(path("half")), read_file(path("whole")));
}

TEST_F(LearnCheckpoint, MatricesAreWrittenRowByRow) {
  Parameters<float> parameters;
  const Slice weight = parameters.add("layer.weight", 2, 3);
  const Slice bias = parameters.add("layer.bias", 2, 1);
  parameters.value(weight) << 1, 2, 3, 4, 5, 6;
  parameters.value(bias) << 7, 8;
  TensorWriter writer;
  add_parameters(writer, parameters, "net.");
  const TensorFile file(writer.bytes(), "m.safetensors");
  EXPECT_EQ(file.floats("net.layer.weight", std::vector<std::uint64_t>{2, 3}),
            (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.floats("net.layer.bias", std::vector<std::uint64_t>{2}), (std::vector<float>{7, 8}));
  const std::vector<float> before(parameters.values().begin(), parameters.values().end());
  for (float& value : parameters.values()) value = 0;
  take_parameters(file, parameters, "net.");
  EXPECT_EQ(before, std::vector<float>(parameters.values().begin(), parameters.values().end()));
}

TEST_F(LearnCheckpoint, RefusesAnotherModel) {
  OrderTraining gru(1);
  save(path("gru"), gru);
  OrderTraining transh(1, TransitionKind::transh);
  const std::vector<float> before(transh.parameters.values().begin(), transh.parameters.values().end());
  EXPECT_THAT(error_of([&] { load_checkpoint(path("gru"), transh.parameters, transh.adam); }),
              HasSubstr("gru: tensor \"scorer.transition.recurrent.weight\" belongs to another model"));
  save(path("transh"), transh);
  EXPECT_THAT(error_of([&] { load_checkpoint(path("transh"), gru.parameters, gru.adam); }),
              HasSubstr("\"scorer.transition.input.weight\" has shape [32, 16]; expected [48, 16]"));
  gru.parameters.add("later", 1, 1);
  Adam<float> adam(gru.parameters, {});
  EXPECT_THAT(error_of([&] { load_checkpoint(path("gru"), gru.parameters, adam); }),
              HasSubstr("gru: there is no tensor \"later\""));
  EXPECT_EQ(before, std::vector<float>(transh.parameters.values().begin(), transh.parameters.values().end()));
}

TEST_F(LearnCheckpoint, RefusesAWrongShapeAndNan) {
  Parameters<float> parameters;
  parameters.add("w", 2, 2);
  parameters.add("b", 2, 1);
  TensorWriter writer;
  writer.add("w", std::vector<std::uint64_t>{2, 2}, std::vector<float>{1, 2, 3, 4});
  writer.add("b", std::vector<std::uint64_t>{2, 1}, std::vector<float>{1, 2});
  const TensorFile file(writer.bytes(), "m.safetensors");
  EXPECT_EQ(error_of([&] { take_parameters(file, parameters); }),
            "m.safetensors: tensor \"b\" has shape [2, 1]; expected [2]");
  EXPECT_EQ(parameters.values()[0], 0) << "half a model was loaded";

  Parameters<float> bad;
  bad.add("w", 1, 1);
  bad.values()[0] = std::numeric_limits<float>::quiet_NaN();
  TensorWriter nan;
  EXPECT_THAT(error_of([&] { add_parameters(nan, bad); }), HasSubstr("tensor \"w\": number 0 of 1 is nan"));
}

TEST_F(LearnCheckpoint, RefusesWhatIsNoCheckpoint) {
  OrderTraining training(1);
  TensorWriter model;
  add_parameters(model, training.parameters);
  model.write(path("model"));
  EXPECT_THAT(error_of([&] { load_checkpoint(path("model"), training.parameters, training.adam); }),
              HasSubstr("there is no \"format\""));
  model.note("format", "fuselage checkpoint 9");
  model.write(path("newer"));
  EXPECT_THAT(error_of([&] { load_checkpoint(path("newer"), training.parameters, training.adam); }),
              HasSubstr("expected \"fuselage checkpoint 1\""));
  model.note("format", "fuselage checkpoint 1");
  model.note("adam.steps", "many");
  model.write(path("steps"));
  EXPECT_THAT(error_of([&] { load_checkpoint(path("steps"), training.parameters, training.adam); }),
              HasSubstr("adam.steps: \"many\" is no number of steps; expected an integer >= 0"));
  save(path("whole"), training);
  const std::string bytes = read_file(path("whole"));
  write_file_atomically(path("cut"), bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error_of([&] { load_checkpoint(path("cut"), training.parameters, training.adam); }),
              HasSubstr("expected a whole file"));
}

TEST_F(LearnCheckpoint, AModelFileHasNothingElse) {
  const OrderTraining training(1);
  TensorWriter writer;
  add_parameters(writer, training.parameters);
  EXPECT_EQ(error_of([&] { expect_only_parameters(TensorFile(writer.bytes(), "m"), training.parameters); }),
            "no error");
  writer.add("extra", std::vector<std::uint64_t>{1}, std::vector<float>{1});
  EXPECT_THAT(error_of([&] { expect_only_parameters(TensorFile(writer.bytes(), "m"), training.parameters); }),
              HasSubstr("m: tensor \"extra\" belongs to another model"));
}

}  // namespace
}  // namespace fuselage::learn

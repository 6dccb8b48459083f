#include "fuselage/learn/value_head.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/adam.h"
#include "fuselage/learn/checkpoint.h"
#include "fuselage/learn/flush_denormals.h"
#include "fuselage/learn/losses.h"
#include "fuselage/learn/safetensors.h"

namespace fuselage::learn {
namespace {

constexpr const char* kind = "fuselage value head 1";

MlpShape mlp_shape(const ValueHeadShape& shape) {
  MlpShape mlp{.widths = {shape.inputs}, .activation = Activation::relu};
  mlp.widths.insert(mlp.widths.end(), shape.hidden.begin(), shape.hidden.end());
  mlp.widths.push_back(1);
  return mlp;
}

}  // namespace

ValueHead::ValueHead(const ValueHeadShape& shape, std::uint64_t seed)
    : shape_(shape), random_(seed), mlp_(parameters_, "head", mlp_shape(shape), random_) {
  standard_ = neutral_standard(shape.inputs);
}

void ValueHead::lay(std::span<const float> rows, View<float> out) const {
  const auto width = static_cast<std::size_t>(shape_.inputs);
  for (Index i = 0; i < out.cols(); ++i)
    put_standardised(rows.data() + width * static_cast<std::size_t>(i), standard_, out.col(i));
}

double ValueHead::train(std::span<const float> rows, std::span<const float> targets,
                        const ValueTrainingOptions& options) {
  const auto width = static_cast<std::size_t>(shape_.inputs);
  const std::size_t count = targets.size();
  if (rows.size() != width * count)
    fail("rows: {} numbers; expected {}, {} for each of {} targets", rows.size(), width * count, width,
         count);
  if (count < 2) fail("targets: there are {}; expected two or more", count);
  const FlushDenormals flush;
  standard_ = standard_of(rows, shape_.inputs);
  const Standard scale = standard_of(targets, 1);
  mean_ = scale.mean[0];
  scale_ = scale.inverse[0] > 0 ? 1 / scale.inverse[0] : 1;

  const auto batch = std::min(count, static_cast<std::size_t>(options.batch));
  const std::size_t batches = count / batch;  // of an epoch; the rest waits for another one
  AdamOptions adam_options{.rate = options.rate};
  adam_options.total = static_cast<std::int64_t>(batches) * options.epochs;
  adam_options.warm_up = std::llround(options.warm_up * static_cast<double>(adam_options.total));
  Adam<float> adam(parameters_, adam_options);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto columns = static_cast<Index>(batch);
  Matrix<float> x(shape_.inputs, columns), target(1, columns), d_y(1, columns);
  MlpPass<float> pass;
  double error = 0;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    search::SplitMix random(options.seed * 1'000'003 + static_cast<std::uint64_t>(epoch));
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    error = 0;
    for (std::size_t b = 0; b < batches; ++b) {
      for (Index i = 0; i < columns; ++i) {
        const std::size_t at = order[b * batch + static_cast<std::size_t>(i)];
        lay(rows.subspan(width * at, width), x.middleCols(i, 1));
        target(0, i) = (targets[at] - mean_) / scale_;
      }
      const View<float> y = mlp_.forward(parameters_, x, pass);
      for (Index i = 0; i < columns; ++i) error += std::abs(static_cast<double>(y(0, i) - target(0, i)));
      d_y.setZero();
      match_increments<float>(y, target, d_y, {});
      mlp_.backward(parameters_, x, d_y, pass);
      adam.step(parameters_);
    }
  }
  return error * static_cast<double>(scale_) / static_cast<double>(batches * batch);
}

void ValueHead::ask(std::span<const float> rows, std::span<float> out, ValueScratch& scratch) const {
  assert(rows.size() == static_cast<std::size_t>(shape_.inputs) * out.size());
  const auto count = static_cast<Index>(out.size());
  if (count == 0) return;
  View<float> x = scratch.inputs.shape(shape_.inputs, count);
  lay(rows, x);
  const View<float> y = mlp_.forward(parameters_, x, scratch.pass);
  for (Index i = 0; i < count; ++i) out[static_cast<std::size_t>(i)] = mean_ + scale_ * y(0, i);
}

void ValueHead::save(const std::string& path, const Fingerprints& fingerprints) const {
  TensorWriter writer;
  writer.note("format", kind);
  for (const auto& [name, fingerprint] : fingerprints) writer.note("fingerprint." + name, fingerprint);
  const auto add = [&](const std::string& name, const std::vector<float>& numbers) {
    const std::uint64_t shape[] = {numbers.size()};
    writer.add(name, shape, numbers);
  };
  std::vector<float> widths(shape_.hidden.begin(), shape_.hidden.end());
  widths.insert(widths.begin(), static_cast<float>(shape_.inputs));
  add("widths", widths);
  add("input.mean", standard_.mean);
  add("input.inverse", standard_.inverse);
  add("target", {mean_, scale_});
  add_parameters(writer, parameters_);
  writer.write(path);
}

ValueHead ValueHead::load(const std::string& path, const Fingerprints& fingerprints) {
  const TensorFile file = read_tensors(path);
  if (file.note("format") != kind)
    fail("{}: the format is {}; expected {}", path, quote(file.note("format")), quote(kind));
  for (const auto& [name, fingerprint] : fingerprints)
    if (const std::string& stored = file.note("fingerprint." + name); stored != fingerprint)
      fail("{}: trained on the {} schema {}; expected {}: train it again", path, name, stored, fingerprint);
  constexpr std::size_t most_widths = 9;
  constexpr float widest = 2048;
  const auto& stored = file.tensor("widths");
  if (stored.shape.size() != 1 || stored.shape[0] < 1 || stored.shape[0] > most_widths)
    fail("{}: tensor \"widths\": expected 1 to {} numbers", path, most_widths);
  ValueHeadShape shape{.inputs = 0, .hidden = {}};
  for (const float width : file.floats("widths", stored.shape)) {
    if (width < 1 || width > widest || width != std::floor(width))
      fail("{}: tensor \"widths\": {}; expected integers from 1 to {}", path, width, widest);
    if (shape.inputs == 0)
      shape.inputs = static_cast<Index>(width);
    else
      shape.hidden.push_back(static_cast<Index>(width));
  }
  ValueHead head(shape, 0);
  const std::uint64_t inputs[] = {static_cast<std::uint64_t>(shape.inputs)};
  const std::uint64_t two[] = {2};
  head.standard_ = {file.floats("input.mean", inputs), file.floats("input.inverse", inputs)};
  const std::vector<float> target = file.floats("target", two);
  if (target[1] <= 0) fail("{}: tensor \"target\": a scale of {}; expected more than 0", path, target[1]);
  head.mean_ = target[0];
  head.scale_ = target[1];
  take_parameters(file, head.parameters_);
  return head;
}

}  // namespace fuselage::learn

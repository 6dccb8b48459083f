#include "fuselage/learn/schedule_model.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <numeric>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/checkpoint.h"
#include "fuselage/learn/safetensors.h"

namespace fuselage::learn {
namespace {

constexpr std::size_t scored_at_once = 256;  // schedules
constexpr const char* kind = "fuselage schedule model 1";
constexpr Index widest = 2048;  // of a layer in a file
constexpr std::size_t most_layers = 8;

MlpShape encoder_shape(const ScheduleModelShape& shape) {
  MlpShape mlp{.widths = {shape.facts}, .activation = Activation::relu};
  mlp.widths.insert(mlp.widths.end(), shape.encoder.begin(), shape.encoder.end());
  mlp.widths.push_back(shape.scorer.latent);
  return mlp;
}

std::string join(const std::vector<Index>& widths) {
  std::string text;
  for (Index width : widths) text += (text.empty() ? "" : " ") + std::to_string(width);
  return text;
}

// Widths with single spaces between, as join() writes them.
std::vector<Index> split(const TensorFile& file, const std::string& key) {
  const std::string& text = file.note(key);
  std::vector<Index> widths;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    Index width = 0;
    const auto [rest, error] = std::from_chars(at, end, width);
    if (error != std::errc() || width < 1 || width > widest)
      fail("{}: the note {} is {}; expected widths from 1 to {}", file.source(), key, quote(text), widest);
    widths.push_back(width);
    at = rest;
    if (at != end && *at == ' ') ++at;
  }
  if (widths.size() > most_layers)
    fail("{}: the note {} has {} widths; expected {} at most", file.source(), key, widths.size(),
         most_layers);
  return widths;
}

Index width_of(const TensorFile& file, const std::string& key) {
  const std::vector<Index> widths = split(file, key);
  if (widths.size() != 1)
    fail("{}: the note {} has {} numbers; expected one", file.source(), key, widths.size());
  return widths[0];
}

TransitionKind transition_of(const TensorFile& file) {
  const std::string& name = file.note("transition");
  for (const auto candidate :
       {TransitionKind::transh, TransitionKind::residual, TransitionKind::gru, TransitionKind::still})
    if (transition_name(candidate) == name) return candidate;
  fail("{}: the transition {} is unknown; expected transh, residual, gru or still", file.source(),
       quote(name));
}

}  // namespace

ScheduleModel::ScheduleModel(const ScheduleModelShape& shape, std::uint64_t seed)
    : shape_(shape),
      random_(seed),
      encoder_(parameters_, "encoder", encoder_shape(shape), random_),
      scorer_(parameters_, "scorer", shape.scorer, random_) {
  token_standard_ = neutral_standard(shape.scorer.features);
  workload_standard_ = neutral_standard(shape.facts);
}

void ScheduleModel::standardise(const Schedules& schedules) {
  token_standard_ = standard_of(schedules.tokens, shape_.scorer.features);
  workload_standard_ = standard_of(schedules.workloads, shape_.facts);
}

void ScheduleModel::pack(const Schedules& schedules, std::span<const std::size_t> chosen,
                         ScheduleBatch& batch) const {
  const Index features = shape_.scorer.features;
  if (schedules.features != features || schedules.facts != shape_.facts)
    fail("schedules with {} features a token and {} a workload; this model expects {} and {}",
         schedules.features, schedules.facts, features, shape_.facts);
  batch.costs.clear();
  batch.groups.clear();
  batch.lengths.clear();
  for (std::size_t i : chosen) {
    batch.lengths.push_back(static_cast<int>(schedules.first_token[i + 1] - schedules.first_token[i]));
    batch.costs.push_back(schedules.costs[i]);
    const auto after = std::upper_bound(schedules.first_schedule.begin(), schedules.first_schedule.end(), i);
    batch.groups.push_back(after - schedules.first_schedule.begin() - 1);
  }
  batch.packing.assign(batch.lengths);
  View<float> tokens = batch.tokens.shape(features, batch.packing.tokens());
  View<float> increments = batch.increments.shape(1, batch.packing.tokens());
  View<float> workloads = batch.workloads.shape(shape_.facts, batch.packing.sequences());
  for (Index s = 0; s < batch.packing.sequences(); ++s) {
    const auto at = static_cast<std::size_t>(s);
    const std::size_t first = schedules.first_token[chosen[at]];
    for (Index step = 0; step < batch.packing.length(s); ++step) {
      const Index column = batch.packing.column(s, step);
      const std::size_t token = first + static_cast<std::size_t>(step);
      put_standardised(schedules.tokens.data() + token * static_cast<std::size_t>(features), token_standard_,
                       tokens.col(column));
      increments(0, column) = schedules.increments[token];
    }
    const auto group = static_cast<std::size_t>(batch.groups[at]);
    put_standardised(schedules.workloads.data() + group * static_cast<std::size_t>(shape_.facts),
                     workload_standard_, workloads.col(s));
  }
}

void ScheduleModel::forward(const ScheduleBatch& batch, ScheduleModelPass& pass) const {
  const View<float> start = encoder_.forward(parameters_, batch.workloads.view(), pass.encoder);
  scorer_.forward(parameters_, {.packing = &batch.packing, .start = start, .tokens = batch.tokens.view()},
                  pass.scorer);
}

void ScheduleModel::backward(const ScheduleBatch& batch, ScheduleModelPass& pass) {
  const View<float> start = pass.encoder.outputs.back().view();
  scorer_.backward(parameters_, {.packing = &batch.packing, .start = start, .tokens = batch.tokens.view()},
                   pass.scorer);
  encoder_.backward(parameters_, batch.workloads.view(), pass.scorer.d_start(), pass.encoder);
}

std::vector<float> ScheduleModel::scores(const Schedules& schedules) const {
  std::vector<float> scores;
  ScheduleBatch batch;
  MlpPass<float> encoded;
  ScorerScratch<float> scratch;
  Buffer<float> of_batch;
  Buffer<float> last;
  std::vector<std::size_t> chosen;
  for (std::size_t begin = 0; begin < schedules.schedules(); begin += scored_at_once) {
    chosen.resize(std::min(scored_at_once, schedules.schedules() - begin));
    std::iota(chosen.begin(), chosen.end(), begin);
    pack(schedules, chosen, batch);
    const View<float> start = encoder_.forward(parameters_, batch.workloads.view(), encoded);
    const auto count = static_cast<Index>(chosen.size());
    const Scored<float> result{.scores = of_batch.shape(1, count), .last = last.shape(start.rows(), count)};
    scorer_.score(parameters_, {.packing = &batch.packing, .start = start, .tokens = batch.tokens.view()},
                  result, scratch);
    for (Index i = 0; i < count; ++i) scores.push_back(result.scores(0, i));
  }
  return scores;
}

Matrix<float> ScheduleModel::start(std::span<const float> workload) const {
  if (std::cmp_not_equal(workload.size(), shape_.facts))
    fail("a workload with {} features; this model expects {}", workload.size(), shape_.facts);
  Matrix<float> row(shape_.facts, 1);
  put_standardised(workload.data(), workload_standard_, row.col(0));
  MlpPass<float> pass;
  return encoder_.forward(parameters_, row, pass);
}

void ScheduleModel::roll(const RollBatch& batch, RollScratch& scratch) const {
  const Index features = shape_.scorer.features;
  scratch.packing.assign(batch.lengths);
  const Packing& packing = scratch.packing;
  assert(batch.start.cols() == packing.sequences());
  assert(std::cmp_equal(batch.tokens.size(), features * packing.tokens()));
  View<float> tokens = scratch.tokens.shape(features, packing.tokens());
  const float* row = batch.tokens.data();
  for (Index s = 0; s < packing.sequences(); ++s)
    for (Index step = 0; step < packing.length(s); ++step, row += features)
      put_standardised(row, token_standard_, tokens.col(packing.column(s, step)));
  scorer_.score(parameters_, {.packing = &packing, .start = batch.start, .tokens = tokens},
                {.scores = scratch.scores.shape(1, packing.sequences()),
                 .last = scratch.last.shape(latent(), packing.sequences())},
                scratch.scorer);
}

void ScheduleModel::save(const std::string& path, const Fingerprints& fingerprints) const {
  TensorWriter writer;
  writer.note("format", kind);
  writer.note("features", std::to_string(shape_.scorer.features));
  writer.note("facts", std::to_string(shape_.facts));
  writer.note("encoder", join(shape_.encoder));
  writer.note("embedding", join(shape_.scorer.embedding));
  writer.note("transition", std::string(transition_name(shape_.scorer.transition)));
  writer.note("latent", std::to_string(shape_.scorer.latent));
  writer.note("hidden", std::to_string(shape_.scorer.hidden));
  writer.note("head", join(shape_.scorer.head));
  for (const auto& [name, fingerprint] : fingerprints) writer.note("fingerprint." + name, fingerprint);
  const auto add = [&](const std::string& name, const std::vector<float>& numbers) {
    const std::uint64_t shape[] = {numbers.size()};
    writer.add(name, shape, numbers);
  };
  add("input.token.mean", token_standard_.mean);
  add("input.token.inverse", token_standard_.inverse);
  add("input.workload.mean", workload_standard_.mean);
  add("input.workload.inverse", workload_standard_.inverse);
  add_parameters(writer, parameters_);
  writer.write(path);
}

ScheduleModel ScheduleModel::load(const std::string& path, const Fingerprints& fingerprints) {
  const TensorFile file = read_tensors(path);
  if (file.note("format") != kind)
    fail("{}: the format is {}; expected {}", path, quote(file.note("format")), quote(kind));
  for (const auto& [name, fingerprint] : fingerprints) {
    const std::string& stored = file.note("fingerprint." + name);
    if (stored != fingerprint)
      fail("{}: trained on the {} schema {}; expected {}: train it again", path, name, stored, fingerprint);
  }
  const ScheduleModelShape shape{.scorer = {.features = width_of(file, "features"),
                                            .embedding = split(file, "embedding"),
                                            .transition = transition_of(file),
                                            .latent = width_of(file, "latent"),
                                            .hidden = width_of(file, "hidden"),
                                            .head = split(file, "head")},
                                 .facts = width_of(file, "facts"),
                                 .encoder = split(file, "encoder")};
  if (shape.scorer.embedding.empty())
    fail("{}: the note embedding is empty; expected the widths of its layers", path);
  ScheduleModel model(shape, 0);
  const auto take = [&](const std::string& name, Index width) {
    const std::uint64_t expected[] = {static_cast<std::uint64_t>(width)};
    return file.floats(name, expected);
  };
  model.token_standard_ = {take("input.token.mean", shape.scorer.features),
                           take("input.token.inverse", shape.scorer.features)};
  model.workload_standard_ = {take("input.workload.mean", shape.facts),
                              take("input.workload.inverse", shape.facts)};
  take_parameters(file, model.parameters_);
  return model;
}

}  // namespace fuselage::learn

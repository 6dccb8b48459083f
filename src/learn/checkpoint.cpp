#include "fuselage/learn/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/core/json.h"

namespace fuselage::learn {
namespace {

constexpr std::string_view format_key = "format";
constexpr std::string_view steps_key = "adam.steps";
constexpr std::string_view format = "fuselage checkpoint 1";
constexpr std::string_view first_prefix = "adam.first.";
constexpr std::string_view second_prefix = "adam.second.";

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<std::uint64_t> shape_of(const Slice& slice) {
  std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(slice.rows)};
  if (slice.columns > 1) shape.push_back(static_cast<std::uint64_t>(slice.columns));
  return shape;
}

// Numbers that lie like a store's values.
void add_numbers(TensorWriter& writer, const std::vector<NamedSlice>& tensors, std::span<const float> numbers,
                 std::string_view prefix) {
  for (const auto& [name, slice] : tensors) {
    const RowMajor rows =
        Eigen::Map<const Matrix<float>>(numbers.data() + slice.offset, slice.rows, slice.columns);
    writer.add(std::string(prefix) + name, shape_of(slice),
               std::span<const float>(rows.data(), slice.size()));
  }
}

std::vector<float> take_numbers(const TensorFile& file, const std::vector<NamedSlice>& tensors,
                                std::string_view prefix) {
  std::vector<float> result;
  for (const auto& [name, slice] : tensors) {
    const std::vector<float> rows = file.floats(std::string(prefix) + name, shape_of(slice));
    result.resize(slice.offset + slice.size());
    Eigen::Map<Matrix<float>>(result.data() + slice.offset, slice.rows, slice.columns) =
        Eigen::Map<const RowMajor>(rows.data(), slice.rows, slice.columns);
  }
  return result;
}

// Error if a tensor of the file has a name that is none of `tensors` after one of the prefixes.
void expect_only(const TensorFile& file, const std::vector<NamedSlice>& tensors,
                 std::span<const std::string_view> prefixes) {
  for (const TensorFile::Tensor& found : file.tensors()) {
    const bool known = std::any_of(tensors.begin(), tensors.end(), [&](const NamedSlice& tensor) {
      return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
        return found.name.starts_with(prefix) && found.name.substr(prefix.size()) == tensor.name;
      });
    });
    if (!known)
      fail("{}: tensor {} belongs to another model; expected only the {} tensors of this one", file.source(),
           quote(found.name), tensors.size());
  }
}

std::int64_t read_steps(const TensorFile& file) {
  const std::string& text = file.note(std::string(steps_key));
  std::int64_t steps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (error != std::errc() || end != text.data() + text.size() || steps < 0)
    fail("{}: {}: {} is no number of steps; expected an integer >= 0", file.source(), steps_key, quote(text));
  return steps;
}

}  // namespace

void add_parameters(TensorWriter& writer, const Parameters<float>& parameters, const std::string& prefix) {
  add_numbers(writer, parameters.tensors(), parameters.values(), prefix);
}

void take_parameters(const TensorFile& file, Parameters<float>& parameters, const std::string& prefix) {
  const std::vector<float> numbers = take_numbers(file, parameters.tensors(), prefix);
  std::copy(numbers.begin(), numbers.end(), parameters.values().begin());
}

void expect_only_parameters(const TensorFile& file, const Parameters<float>& parameters) {
  static constexpr std::string_view none[] = {""};
  expect_only(file, parameters.tensors(), none);
}

void save_checkpoint(const std::string& path, const Parameters<float>& parameters, const Adam<float>& adam,
                     const TensorNotes& notes) {
  TensorWriter writer;
  for (const auto& [key, text] : notes) writer.note(key, text);
  writer.note(std::string(format_key), std::string(format));
  writer.note(std::string(steps_key), std::to_string(adam.steps()));
  add_numbers(writer, parameters.tensors(), parameters.values(), "");
  add_numbers(writer, parameters.tensors(), adam.first_moments(), first_prefix);
  add_numbers(writer, parameters.tensors(), adam.second_moments(), second_prefix);
  writer.write(path);
}

TensorNotes load_checkpoint(const std::string& path, Parameters<float>& parameters, Adam<float>& adam) {
  static constexpr std::string_view prefixes[] = {"", first_prefix, second_prefix};
  const TensorFile file = read_tensors(path);
  const std::string& found = file.note(std::string(format_key));
  if (found != format)
    fail("{}: {}: {} is no training to go on with; expected {}", file.source(), format_key, quote(found),
         quote(format));
  const std::int64_t steps = read_steps(file);
  expect_only(file, parameters.tensors(), prefixes);
  const std::vector<float> values = take_numbers(file, parameters.tensors(), "");
  const std::vector<float> first = take_numbers(file, parameters.tensors(), first_prefix);
  const std::vector<float> second = take_numbers(file, parameters.tensors(), second_prefix);
  std::copy(values.begin(), values.end(), parameters.values().begin());
  adam.restore(steps, first, second);
  TensorNotes notes = file.notes();
  notes.erase(std::string(format_key));
  notes.erase(std::string(steps_key));
  return notes;
}

}  // namespace fuselage::learn

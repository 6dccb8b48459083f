#include "fuselage/learn/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"

namespace fuselage::learn {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are copied as they are");

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t max_header_bytes = std::uint64_t{16} << 20;
constexpr std::string_view notes_key = "__metadata__";

struct TypeRow {
  TensorType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeRow, 13> types = {{{TensorType::boolean, "BOOL", 1},
                                            {TensorType::u8, "U8", 1},
                                            {TensorType::i8, "I8", 1},
                                            {TensorType::u16, "U16", 2},
                                            {TensorType::i16, "I16", 2},
                                            {TensorType::f16, "F16", 2},
                                            {TensorType::bf16, "BF16", 2},
                                            {TensorType::u32, "U32", 4},
                                            {TensorType::i32, "I32", 4},
                                            {TensorType::f32, "F32", 4},
                                            {TensorType::u64, "U64", 8},
                                            {TensorType::i64, "I64", 8},
                                            {TensorType::f64, "F64", 8}}};

const TypeRow& row_of(TensorType type) {
  return types[static_cast<std::size_t>(type)];
}

TensorType read_type(const JsonField& field) {
  for (const TypeRow& row : types)
    if (row.name == field.string()) return row.type;
  std::array<std::string_view, types.size()> names;
  std::transform(types.begin(), types.end(), names.begin(), [](const TypeRow& row) { return row.name; });
  field.refuse("is no known type", "one of " + join_names(names));
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// The bytes of a tensor; none if that is more than a file can hold.
std::optional<std::size_t> bytes_of(TensorType type, std::span<const std::uint64_t> shape) {
  std::size_t bytes = type_bytes(type);
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
  for (const std::uint64_t extent : shape) {
    if (extent > max_file_bytes / bytes) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

// The entry of the header for one tensor. That its bytes are there is checked later, by check_places.
TensorFile::Tensor read_tensor(const JsonField& field, const std::string& name) {
  static constexpr std::array<std::string_view, 3> known = {"dtype", "shape", "data_offsets"};
  field.only(known);
  TensorFile::Tensor tensor;
  tensor.name = name;
  const JsonField type = field.required("dtype");
  const JsonField shape = field.required("shape");
  const JsonField offsets = field.required("data_offsets");
  tensor.type = read_type(type);
  for (std::size_t i = 0; i < shape.array_size(); ++i)
    tensor.shape.push_back(static_cast<std::uint64_t>(shape.element(i).integer(0)));
  if (offsets.array_size() != 2) offsets.refuse("has another length", "two bytes' places [begin, end]");
  const std::int64_t begin = offsets.element(0).integer(0);
  const std::int64_t end = offsets.element(1).integer(0);
  tensor.begin = static_cast<std::size_t>(begin);
  tensor.end = static_cast<std::size_t>(end);
  if (end < begin) offsets.refuse("ends before it begins", "begin <= end");
  const auto bytes = bytes_of(tensor.type, tensor.shape);
  if (!bytes) shape.refuse("is too large", fmt::format("at most {} bytes in all", max_file_bytes));
  if (*bytes != tensor.end - tensor.begin)
    offsets.refuse(fmt::format("hold {} bytes", tensor.end - tensor.begin),
                   fmt::format("{} for {} {}", *bytes, type_name(tensor.type), shape_text(tensor.shape)));
  return tensor;
}

}  // namespace

std::string_view type_name(TensorType type) {
  return row_of(type).name;
}

std::size_t type_bytes(TensorType type) {
  return row_of(type).bytes;
}

TensorFile::TensorFile(std::string bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  if (bytes_.size() < length_bytes)
    fail("{}: has {} bytes; expected a safetensors file, which begins with {} bytes of header length",
         source_, bytes_.size(), length_bytes);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes_.data(), length_bytes);
  if (length > bytes_.size() - length_bytes)
    fail("{}: the header is said to have {} bytes, and {} are left; expected a whole safetensors file",
         source_, length, bytes_.size() - length_bytes);
  if (length > max_header_bytes)
    fail("{}: the header has {} bytes; expected at most {}", source_, length, max_header_bytes);
  data_ = length_bytes + static_cast<std::size_t>(length);
  read_header(std::string_view(bytes_).substr(length_bytes, data_ - length_bytes));
  check_places();
}

void TensorFile::read_header(std::string_view header) {
  if (header.empty() || header.front() != '{')
    fail("{}: the header begins with {}; expected an object {{...}}", source_, quote(header.substr(0, 1)));
  const Json json =
      parse_json(header, source_, {.max_depth = 3, .max_values = 1'000'000, .object_only = true});
  const JsonField root(json, source_);
  for (const auto& [name, value] : json.items()) {
    const JsonField field = root.required(name);
    if (name != notes_key) {
      tensors_.push_back(read_tensor(field, name));
      continue;
    }
    if (!value.is_object()) field.refuse("is no object", "names with texts");
    for (const auto& [key, text] : value.items()) notes_[key] = field.required(key).string();
  }
}

// Tensors lie one behind the other, from the header to the end: no byte is in two of them or in none.
void TensorFile::check_places() {
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const Tensor& a, const Tensor& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  const std::size_t data = bytes_.size() - data_;
  std::size_t at = 0;
  for (const Tensor& tensor : tensors_) {
    if (tensor.end > data)
      fail("{}: tensor {} ends at byte {}, and the file has {} bytes after its header; expected a whole file",
           source_, quote(tensor.name), tensor.end, data);
    if (tensor.begin != at)
      fail("{}: tensor {} begins at byte {}; expected {}, where the one before it ends", source_,
           quote(tensor.name), tensor.begin, at);
    at = tensor.end;
  }
  if (at != data) fail("{}: {} bytes follow the last tensor; expected none", source_, data - at);
}

bool TensorFile::has(std::string_view name) const {
  return std::any_of(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
}

const TensorFile::Tensor& TensorFile::tensor(std::string_view name) const {
  for (const Tensor& tensor : tensors_)
    if (tensor.name == name) return tensor;
  std::vector<std::string_view> names;
  for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
  if (names.size() > 20) names.resize(20);
  fail("{}: there is no tensor {}; expected it among {} ({}{})", source_, quote(name), tensors_.size(),
       join_names(names), names.size() < tensors_.size() ? ", ..." : "");
}

const std::string& TensorFile::note(const std::string& key) const {
  const auto found = notes_.find(key);
  if (found == notes_.end())
    fail("{}: there is no {} in {}; expected a text", source_, quote(key), notes_key);
  return found->second;
}

template <class T>
std::vector<T> TensorFile::numbers(TensorType type, std::string_view name,
                                   std::span<const std::uint64_t> shape) const {
  const Tensor& found = tensor(name);
  if (found.type != type)
    fail("{}: tensor {} is of type {}; expected {}", source_, quote(name), type_name(found.type),
         type_name(type));
  if (!std::equal(shape.begin(), shape.end(), found.shape.begin(), found.shape.end()))
    fail("{}: tensor {} has shape {}; expected {}", source_, quote(name), shape_text(found.shape),
         shape_text(shape));
  std::vector<T> result(found.numbers());
  if (!result.empty())
    std::memcpy(result.data(), bytes_.data() + data_ + found.begin, found.end - found.begin);
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!std::isfinite(result[i]))
      fail("{}: tensor {}: number {} of {} is {}; expected a finite number", source_, quote(name), i,
           result.size(), result[i]);
  return result;
}

std::vector<float> TensorFile::floats(std::string_view name, std::span<const std::uint64_t> shape) const {
  return numbers<float>(TensorType::f32, name, shape);
}

std::vector<double> TensorFile::doubles(std::string_view name, std::span<const std::uint64_t> shape) const {
  return numbers<double>(TensorType::f64, name, shape);
}

TensorFile read_tensors(const std::string& path) {
  return TensorFile(read_file(path), source_name(path));
}

template <class T>
void TensorWriter::add_numbers(TensorType type, const std::string& name, std::span<const std::uint64_t> shape,
                               std::span<const T> numbers) {
  assert(name != notes_key && bytes_of(type, shape) == numbers.size_bytes());
  assert(std::none_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; }));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i]))
      fail("tensor {}: number {} of {} is {}; expected a finite number to write", quote(name), i,
           numbers.size(), numbers[i]);
  const std::size_t begin = data_.size();
  if (!numbers.empty()) data_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  entries_.push_back({name, type, {shape.begin(), shape.end()}, begin, data_.size()});
}

void TensorWriter::add(const std::string& name, std::span<const std::uint64_t> shape,
                       std::span<const float> numbers) {
  add_numbers(TensorType::f32, name, shape, numbers);
}

void TensorWriter::add(const std::string& name, std::span<const std::uint64_t> shape,
                       std::span<const double> numbers) {
  add_numbers(TensorType::f64, name, shape, numbers);
}

std::string TensorWriter::bytes() const {
  std::vector<std::string> fields;
  if (!notes_.empty()) {
    std::vector<std::string> texts;
    for (const auto& [key, text] : notes_)
      texts.push_back(fmt::format("{}:{}", json_string(key), json_string(text)));
    fields.push_back(fmt::format("{}:{{{}}}", json_string(notes_key), fmt::join(texts, ",")));
  }
  for (const Entry& e : entries_)
    fields.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                 json_string(e.name), type_name(e.type), fmt::join(e.shape, ","), e.begin,
                                 e.end));
  std::string header = fmt::format("{{{}}}", fmt::join(fields, ","));
  header.append((length_bytes - header.size() % length_bytes) % length_bytes, ' ');
  const std::uint64_t length = header.size();
  std::string result(length_bytes, '\0');
  std::memcpy(result.data(), &length, length_bytes);
  return result + header + data_;
}

void TensorWriter::write(const std::string& path) const {
  write_file_atomically(path, bytes());
}

}  // namespace fuselage::learn

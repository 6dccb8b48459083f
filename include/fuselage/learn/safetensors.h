// The file format of trained numbers, which every framework reads:
// https://github.com/huggingface/safetensors. Eight bytes with the header's length (little endian), a JSON
// header that gives each tensor's type, shape and place, then the numbers, row by row. Files come from
// anywhere, so nothing in one is believed: what is not exactly as the format says is refused with the file,
// the tensor, the value and what would be right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage::learn {

enum class TensorType { boolean, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64 };

std::string_view type_name(TensorType type);  // "F32"
std::size_t type_bytes(TensorType type);

// Free text beside the tensors ("__metadata__").
using TensorNotes = std::map<std::string, std::string>;

// A file that has been read. Tensors are in the order of their bytes, which lie one behind the other.
class TensorFile {
 public:
  struct Tensor {
    std::string name;
    TensorType type = TensorType::f32;
    std::vector<std::uint64_t> shape;
    std::size_t begin = 0;  // bytes after the header
    std::size_t end = 0;

    std::size_t numbers() const { return (end - begin) / type_bytes(type); }
  };

  // Error as above. `source` is what messages call the file. Nothing is read from elsewhere.
  TensorFile(std::string bytes, std::string source);

  const std::string& source() const { return source_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const TensorNotes& notes() const { return notes_; }
  // Error that names the tensors there are, if that is none of them.
  const Tensor& tensor(std::string_view name) const;
  bool has(std::string_view name) const;
  // Error if there is no such note.
  const std::string& note(const std::string& key) const;

  // The numbers of a tensor, row by row. Error if it is of another type or shape than asked for, or if one of
  // its numbers is not finite.
  std::vector<float> floats(std::string_view name, std::span<const std::uint64_t> shape) const;
  std::vector<double> doubles(std::string_view name, std::span<const std::uint64_t> shape) const;

 private:
  void read_header(std::string_view header);
  void check_places();
  template <class T>
  std::vector<T> numbers(TensorType type, std::string_view name, std::span<const std::uint64_t> shape) const;

  std::string bytes_;
  std::string source_;
  std::size_t data_ = 0;  // where the header ends
  std::vector<Tensor> tensors_;
  TensorNotes notes_;
};

TensorFile read_tensors(const std::string& path);

// Collects tensors and gives the bytes of a file, the same for the same calls.
class TensorWriter {
 public:
  // Numbers row by row, as many as the shape says. Names are unique, and not "__metadata__". Error if a
  // number is not finite: such a file would not be read.
  void add(const std::string& name, std::span<const std::uint64_t> shape, std::span<const float> numbers);
  void add(const std::string& name, std::span<const std::uint64_t> shape, std::span<const double> numbers);
  void note(const std::string& key, const std::string& text) { notes_[key] = text; }

  std::string bytes() const;
  // Written to a temporary name and renamed (core/files.h).
  void write(const std::string& path) const;

 private:
  template <class T>
  void add_numbers(TensorType type, const std::string& name, std::span<const std::uint64_t> shape,
                   std::span<const T> numbers);

  struct Entry {
    std::string name;
    TensorType type;
    std::vector<std::uint64_t> shape;
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Entry> entries_;
  std::string data_;
  TensorNotes notes_;
};

}  // namespace fuselage::learn

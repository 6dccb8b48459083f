// The little of HDF5 that datasets need: arrays of rows that grow at their end and are read piece by piece,
// and attributes. Handles close themselves; what goes wrong is an Error that names file and dataset. Times of
// creation are left out, so that the same calls write the same bytes.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fuselage::learn::hdf5 {

// The library prints its errors unless told otherwise; Errors say what matters.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }

  bool valid() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  bool reset() {  // false if closing failed
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

// A type of the file: the same on every machine.
enum class Number { u8, i32, f32, f64 };
template <class T>
constexpr Number number_of();
template <>
constexpr Number number_of<std::uint8_t>() {
  return Number::u8;
}
template <>
constexpr Number number_of<std::int32_t>() {
  return Number::i32;
}
template <>
constexpr Number number_of<float>() {
  return Number::f32;
}
template <>
constexpr Number number_of<double>() {
  return Number::f64;
}

// Of a dataset: a type, and how many numbers (or bytes of text) a row has. `width` 0: one number, no
// dimension.
struct RowType {
  Number number = Number::f32;
  std::size_t width = 0;
  bool is_text = false;

  std::size_t numbers() const { return width == 0 ? 1 : width; }
};

class File;

// Rows of one dataset. `name` is the path within the file.
class Rows {
 public:
  Rows() = default;
  const std::string& name() const { return name_; }
  std::size_t size() const { return size_; }  // rows

  void append(const void* rows, std::size_t count);
  void read(void* rows, std::size_t begin, std::size_t count) const;

 private:
  friend class File;
  std::string source_;
  std::string name_;
  RowType type_;
  std::size_t size_ = 0;
  Handle dataset_;
};

class File {
 public:
  // Refuses a file that there is.
  static File create(const std::string& path);
  static File open(const std::string& path);

  void make_group(const std::string& name);
  Rows make_rows(const std::string& name, const RowType& type);
  // Error unless the dataset is there with this type and width.
  Rows open_rows(const std::string& name, const RowType& type) const;

  // Attributes of the file.
  void set(const std::string& name, const std::string& text);
  void set(const std::string& name, std::uint64_t value);
  std::string text(const std::string& name) const;
  std::uint64_t integer(const std::string& name) const;
  // Text beside a dataset, for people.
  void describe(const Rows& rows, const std::string& name, const std::string& text);

  void close();  // Error if what was written doesn't reach the disk
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Handle file_;
};

}  // namespace fuselage::learn::hdf5

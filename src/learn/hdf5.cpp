#include "hdf5.h"

#include <algorithm>
#include <array>

#include "fuselage/core/error.h"
#include "fuselage/core/utf8.h"

namespace fuselage::learn::hdf5 {
namespace {

constexpr std::size_t chunk_bytes = 1 << 16;
constexpr std::size_t longest_text = 1 << 16;  // bytes of an attribute

hid_t file_type(Number number) {
  switch (number) {
    case Number::u8:
      return H5T_STD_U8LE;
    case Number::i32:
      return H5T_STD_I32LE;
    case Number::f32:
      return H5T_IEEE_F32LE;
    case Number::f64:
      break;
  }
  return H5T_IEEE_F64LE;
}
hid_t memory_type(Number number) {
  switch (number) {
    case Number::u8:
      return H5T_NATIVE_UINT8;
    case Number::i32:
      return H5T_NATIVE_INT32;
    case Number::f32:
      return H5T_NATIVE_FLOAT;
    case Number::f64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

std::string words(const RowType& type) {
  if (type.is_text) return fmt::format("texts of {} bytes", type.width);
  constexpr std::array names = {"unsigned bytes", "32-bit integers", "32-bit floats", "64-bit floats"};
  const char* numbers = names[static_cast<std::size_t>(type.number)];
  return type.width == 0 ? fmt::format("a list of {}", numbers)
                         : fmt::format("rows of {} {}", type.width, numbers);
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), bytes);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

// Datasets of text have one element a row.
int rank_of(const RowType& type) {
  return type.is_text || type.width == 0 ? 1 : 2;
}
std::array<hsize_t, 2> shape_of(const RowType& type, std::size_t rows) {
  return {rows, type.width};
}

struct Spaces {
  Handle memory;
  Handle file;
};
// Rows [begin, begin + count) of a dataset.
Spaces spaces_of(const Handle& dataset, const RowType& type, std::size_t begin, std::size_t count) {
  const std::array<hsize_t, 2> start = {begin, 0};
  const std::array<hsize_t, 2> shape = shape_of(type, count);
  Spaces spaces = {Handle(H5Screate_simple(rank_of(type), shape.data(), nullptr), H5Sclose),
                   Handle(H5Dget_space(dataset.get()), H5Sclose)};
  H5Sselect_hyperslab(spaces.file.get(), H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  return spaces;
}

Handle memory_type(const RowType& type) {
  return type.is_text ? text_type(type.width) : Handle(H5Tcopy(memory_type(type.number)), H5Tclose);
}

void write_text(hid_t object, const std::string& name, const std::string& text, const std::string& source) {
  const Handle type = text_type(std::max<std::size_t>(1, text.size()));
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.get(), type.get(), text.empty() ? "\0" : text.data()) < 0)
    fail("{}: attribute {}: cannot be written", source, name);
}

Handle open_attribute(hid_t file, const std::string& name, const std::string& source, H5T_class_t expected) {
  Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) fail("{}: attribute {}: missing; expected a trajectory file", source, name);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Tget_class(type.get()) != expected || H5Tis_variable_str(type.get()) > 0 ||
      H5Sget_simple_extent_npoints(space.get()) != 1)
    fail("{}: attribute {}: is of another type; expected {}", source, name,
         expected == H5T_STRING ? "one text of fixed length" : "one integer");
  return attribute;
}

}  // namespace

void Rows::append(const void* rows, std::size_t count) {
  if (count == 0) return;
  const Quiet quiet;
  const std::array<hsize_t, 2> shape = shape_of(type_, size_ + count);
  bool done = H5Dset_extent(dataset_.get(), shape.data()) >= 0;
  if (done) {
    const Spaces spaces = spaces_of(dataset_, type_, size_, count);
    const Handle type = memory_type(type_);
    done =
        H5Dwrite(dataset_.get(), type.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, rows) >= 0;
  }
  if (!done) fail("{}: {}: cannot be written; is the disk full?", source_, name_);
  size_ += count;
}

void Rows::read(void* rows, std::size_t begin, std::size_t count) const {
  if (count == 0) return;
  if (begin > size_ || count > size_ - begin)
    fail("{}: {}: has {} rows; expected at least {}", source_, name_, size_, begin + count);
  const Quiet quiet;
  const Spaces spaces = spaces_of(dataset_, type_, begin, count);
  const Handle type = memory_type(type_);
  if (H5Dread(dataset_.get(), type.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, rows) < 0)
    fail("{}: {}: rows {} to {} cannot be read; expected an undamaged file", source_, name_, begin,
         begin + count - 1);
}

File File::create(const std::string& path) {
  const Quiet quiet;
  File file;
  file.path_ = path;
  const Handle options(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(options.get(), false);
  file.file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_EXCL, options.get(), H5P_DEFAULT), H5Fclose);
  if (!file.file_.valid()) fail("{}: cannot be created; expected a writable file name", path);
  return file;
}

File File::open(const std::string& path) {
  const Quiet quiet;
  File file;
  file.path_ = path;
  file.file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file.file_.valid()) return file;
  const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
  if (is_hdf5 > 0) fail("{}: cannot be opened: the file is cut short or damaged; expected a whole one", path);
  if (is_hdf5 == 0) fail("{}: is no HDF5 file; expected one", path);
  fail("{}: cannot be opened; expected a readable HDF5 file", path);
}

void File::make_group(const std::string& name) {
  const Quiet quiet;
  const Handle options(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(options.get(), false);
  const Handle group(H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, options.get(), H5P_DEFAULT),
                     H5Gclose);
  if (!group.valid()) fail("{}: {}: cannot be created", path_, name);
}

Rows File::make_rows(const std::string& name, const RowType& type) {
  const Quiet quiet;
  Rows rows;
  rows.source_ = path_;
  rows.name_ = name;
  rows.type_ = type;
  const Handle options(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(options.get(), false);
  const Handle row_type =
      type.is_text ? text_type(type.width) : Handle(H5Tcopy(file_type(type.number)), H5Tclose);
  const std::size_t row_bytes = H5Tget_size(row_type.get()) * (type.is_text ? 1 : type.numbers());
  const std::array<hsize_t, 2> chunk = shape_of(type, std::max<std::size_t>(1, chunk_bytes / row_bytes));
  const std::array<hsize_t, 2> none = shape_of(type, 0);
  const std::array<hsize_t, 2> most = {H5S_UNLIMITED, type.width};
  H5Pset_chunk(options.get(), rank_of(type), chunk.data());
  H5Pset_shuffle(options.get());
  H5Pset_deflate(options.get(), 4);
  H5Pset_fletcher32(options.get());
  const Handle space(H5Screate_simple(rank_of(type), none.data(), most.data()), H5Sclose);
  rows.dataset_ = Handle(H5Dcreate2(file_.get(), name.c_str(), row_type.get(), space.get(), H5P_DEFAULT,
                                    options.get(), H5P_DEFAULT),
                         H5Dclose);
  if (!rows.dataset_.valid()) fail("{}: {}: cannot be created", path_, name);
  return rows;
}

Rows File::open_rows(const std::string& name, const RowType& type) const {
  const Quiet quiet;
  Rows rows;
  rows.source_ = path_;
  rows.name_ = name;
  rows.type_ = type;
  rows.dataset_ = Handle(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!rows.dataset_.valid()) fail("{}: {}: missing; expected {}", path_, name, words(type));
  const Handle found(H5Dget_type(rows.dataset_.get()), H5Tclose);
  const Handle expected =
      type.is_text ? text_type(type.width) : Handle(H5Tcopy(file_type(type.number)), H5Tclose);
  const Handle space(H5Dget_space(rows.dataset_.get()), H5Sclose);
  std::array<hsize_t, 2> shape = {0, 0};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (H5Tequal(found.get(), expected.get()) <= 0)
    fail("{}: {}: has another type; expected {}", path_, name, words(type));
  if (rank == rank_of(type)) H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  if (rank != rank_of(type) || (rank == 2 && shape[1] != type.width))
    fail("{}: {}: has {}; expected {}", path_, name,
         rank == 2 ? fmt::format("rows of {}", shape[1]) : fmt::format("{} dimensions", rank), words(type));
  rows.size_ = static_cast<std::size_t>(shape[0]);
  return rows;
}

void File::set(const std::string& name, const std::string& text) {
  const Quiet quiet;
  write_text(file_.get(), name, text, path_);
}

void File::set(const std::string& name, std::uint64_t value) {
  const Quiet quiet;
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(
      H5Acreate2(file_.get(), name.c_str(), H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.get(), H5T_NATIVE_UINT64, &value) < 0)
    fail("{}: attribute {}: cannot be written", path_, name);
}

void File::describe(const Rows& rows, const std::string& name, const std::string& text) {
  const Quiet quiet;
  write_text(rows.dataset_.get(), name, text, path_);
}

std::string File::text(const std::string& name) const {
  const Quiet quiet;
  const Handle attribute = open_attribute(file_.get(), name, path_, H5T_STRING);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  const std::size_t bytes = H5Tget_size(type.get());
  if (bytes > longest_text)
    fail("{}: attribute {}: has {} bytes; expected at most {}", path_, name, bytes, longest_text);
  std::string text(bytes, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0)
    fail("{}: attribute {}: cannot be read; expected an undamaged file", path_, name);
  text.resize(std::min(text.size(), text.find('\0')));
  check_utf8(text, fmt::format("{}: attribute {}", path_, name));
  return text;
}

std::uint64_t File::integer(const std::string& name) const {
  const Quiet quiet;
  const Handle attribute = open_attribute(file_.get(), name, path_, H5T_INTEGER);
  std::uint64_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value) < 0)
    fail("{}: attribute {}: cannot be read; expected an undamaged file", path_, name);
  return value;
}

void File::close() {
  const Quiet quiet;
  const bool flushed = H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0;
  if (!file_.reset() || !flushed) fail("{}: cannot be written; is the disk full?", path_);
}

}  // namespace fuselage::learn::hdf5

// Whatever a file holds, reading it ends in tensors or in an Error; and the numbers that were read are
// written so that they read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/learn/safetensors.h"

using namespace fuselage;
using namespace fuselage::learn;

namespace {

void copy(const TensorFile& file, const TensorFile::Tensor& tensor, TensorWriter& writer) {
  try {
    if (tensor.type == TensorType::f32)
      writer.add(tensor.name, tensor.shape, file.floats(tensor.name, tensor.shape));
    if (tensor.type == TensorType::f64)
      writer.add(tensor.name, tensor.shape, file.doubles(tensor.name, tensor.shape));
  } catch (const Error&) {  // not finite
  }
}

TensorWriter copy(const TensorFile& file) {
  TensorWriter writer;
  for (const TensorFile::Tensor& tensor : file.tensors()) copy(file, tensor, writer);
  for (const auto& [key, text] : file.notes()) writer.note(key, text);
  return writer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const TensorFile file(std::string(reinterpret_cast<const char*>(data), size), "fuzz.safetensors");
    const std::string bytes = copy(file).bytes();
    const TensorFile again(bytes, "again.safetensors");
    if (again.notes() != file.notes() || copy(again).bytes() != bytes) std::abort();
  } catch (const Error&) {
  }
  return 0;
}

// XGBoost's C API with owners for its handles and Errors for its return codes.
#pragma once

#include <xgboost/c_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "fuselage/core/error.h"

namespace fuselage::learn {

// What the last call complained of, without the stack trace that follows.
inline std::string complaint() {
  const std::string text = XGBGetLastError();
  return text.substr(0, text.find('\n'));
}

// Every call of the C API goes through here: checked("training", XGBoosterUpdateOneIter(…)).
inline void checked(const char* what, int code) {
  if (code != 0) fail("XGBoost: {}: {}", what, complaint());
}

struct FreeMatrix {
  void operator()(DMatrixHandle handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(BoosterHandle handle) const { XGBoosterFree(handle); }
};
using XgMatrix = std::unique_ptr<void, FreeMatrix>;
using XgBooster = std::unique_ptr<void, FreeBooster>;

// The array interface by which a matrix of floats, row by row, is handed over without a copy.
inline std::string array_interface(const float* data, std::size_t rows, std::size_t columns,
                                   std::size_t row_stride) {
  return fmt::format(R"({{"data":[{},true],"shape":[{},{}],"strides":[{},{}],"typestr":"<f4","version":3}})",
                     reinterpret_cast<std::uintptr_t>(data), rows, columns, row_stride * sizeof(float),
                     sizeof(float));
}

}  // namespace fuselage::learn

// XGBoost itself, one thread, to compare with.
#pragma once

#include <xgboost/c_api.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/learn/matrix.h"

namespace fuselage::learn {

class Booster {
 public:
  explicit Booster(std::string_view model) {
    ask(XGBoosterCreate(nullptr, 0, &handle_));
    ask(XGBoosterLoadModelFromBuffer(handle_, model.data(), model.size()));
    ask(XGBoosterSetParam(handle_, "nthread", "1"));  // after loading, which resets it
    ask(XGProxyDMatrixCreate(&proxy_));
  }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() {
    XGDMatrixFree(proxy_);
    XGBoosterFree(handle_);
  }

  // Rows [features x n] as XGBoost takes them, without a copy.
  static std::string describe(const ConstView<float>& rows) {
    return fmt::format(R"({{"data":[{},true],"shape":[{},{}],"typestr":"<f4","version":3}})",
                       reinterpret_cast<std::uintptr_t>(rows.data()), rows.cols(), rows.rows());
  }
  // Good until the next call.
  const float* score(const std::string& rows) {
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* scores = nullptr;
    ask(XGBoosterPredictFromDense(handle_, rows.c_str(),
                                  R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,)"
                                  R"("strict_shape":false,"cache_id":0,"missing":NaN})",
                                  proxy_, &shape, &dimensions, &scores));
    return scores;
  }

 private:
  static void ask(int code) {
    if (code != 0) throw std::runtime_error(XGBGetLastError());
  }
  BoosterHandle handle_ = nullptr;
  DMatrixHandle proxy_ = nullptr;
};

}  // namespace fuselage::learn

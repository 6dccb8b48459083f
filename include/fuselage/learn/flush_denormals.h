// Numbers too small for their type to hold in full (below 1.2e-38 in float) cost a processor a hundred times
// as much as others, and a training whose pairs are nearly all in order makes them by the million: gradients
// of a saturated loss, moments that decay. While one of these lives, the thread that made it takes them for
// zero and rounds results that small to zero. Nothing that is learned is that small. Machines without such a
// mode do nothing.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fuselage::learn {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | flush_results | read_as_zero);
  }
  ~FlushDenormals() {
    _mm_setcsr(before_);
  }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned flush_results = 0x8000;
  static constexpr unsigned read_as_zero = 0x0040;
  unsigned before_;
#endif
};

}  // namespace fuselage::learn

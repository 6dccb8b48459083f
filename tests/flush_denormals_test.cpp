// Numbers too small to hold in full are zero while somebody asks for it, and what they were
// afterwards.
#include "fuselage/learn/flush_denormals.h"

#include <gtest/gtest.h>

namespace fuselage::learn {
namespace {

float product(float a, float b) {
  volatile float x = a, y = b;  // not at compile time
  return x * y;
}

#if defined(__SSE2__)
TEST(FlushDenormals, takes_what_is_too_small_for_zero_while_it_lives) {
  const float small = 2e-38F;
  ASSERT_GT(product(small, 0.1F), 0);
  const float denormal = product(small, 0.1F);
  {
    const FlushDenormals outer;
    EXPECT_EQ(product(small, 0.1F), 0);       // a result
    EXPECT_EQ(product(denormal, 1e10F), 0);   // an input
    EXPECT_EQ(product(small, 2), 2 * small);  // others are exact
    {
      const FlushDenormals inner;
      EXPECT_EQ(product(small, 0.1F), 0);
    }
    EXPECT_EQ(product(small, 0.1F), 0);
  }
  EXPECT_EQ(product(small, 0.1F), denormal);
  EXPECT_GT(product(denormal, 1e10F), 0);
}
#endif

}  // namespace
}  // namespace fuselage::learn

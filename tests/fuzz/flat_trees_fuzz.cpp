// Whatever a file holds, reading it ends in trees or in an Error; and what was read scores any row, alone as
// in a batch.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/learn/flat_trees.h"

using namespace fuselage;
using namespace fuselage::learn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const FlatTrees trees(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.json");
    constexpr Index n = 9;
    Matrix<float> rows(trees.features(), n);
    for (Index i = 0; i < rows.size(); ++i)
      rows.data()[i] = i % 5 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i % 7) - 3;
    std::vector<float> scores(n);
    FlatTreesScratch scratch;
    trees.score(rows, scores, scratch);
    for (Index i = 0; i < n; ++i) {
      const float one =
          trees.score({rows.col(i).data(), static_cast<std::size_t>(trees.features())}, scratch);
      // A sum may overflow to infinity and then to NaN, whose bits may differ.
      const float batch = scores[static_cast<std::size_t>(i)];
      if (std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(batch) && one == one)
        std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}

// SHA-256 (FIPS 180-4), where equal digests have to mean equal content: keys of the best-known store,
// checksums of dataset shards. Collisions can neither happen nor be made, so no caller needs to compare what
// was hashed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage {

// For content that comes in pieces; how it is cut doesn't matter.
class Sha256 {
 public:
  void update(std::string_view bytes);
  // 64 lower-case hex digits of all that was given. Ends the digest: no update after it.
  std::string hex_digest();

 private:
  void compress(const unsigned char* block);  // 64 bytes

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_ = {};  // what doesn't fill a block yet
  std::size_t filled_ = 0;                    // bytes of block_, < 64
  std::uint64_t length_ = 0;                  // bytes in all
};

std::string sha256_hex(std::string_view bytes);

}  // namespace fuselage

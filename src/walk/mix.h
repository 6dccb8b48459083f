// How hashes of states and colours take in one number after the other.
#pragma once

#include <cstdint>

namespace fuselage::walk {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace fuselage::walk

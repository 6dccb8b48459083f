// What a schedule is charged beside its latency, as weights of an objective in cycles:
//   latency + traffic * bytes moved + launch * kernels launched + residency * byte-kernels
// Bytes moved are the loads, stores and write-backs of every kernel, those of a node that runs out of memory
// included. Byte-kernels are the bytes resident after each kernel, summed; after a group that falls back to
// its members alone they count once a member.
#pragma once

namespace fuselage::walk {

struct Price {
  double traffic = 0;    // cycles per byte
  double launch = 0;     // cycles per kernel, beside the machine's launch cost
  double residency = 0;  // cycles per byte-kernel

  friend bool operator==(const Price&, const Price&) = default;
};

}  // namespace fuselage::walk

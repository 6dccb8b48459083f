// Two plans of one graph side by side: where they differ, and what each difference costs. Both run the same
// ops, so that there are moments at which both have run the same set; between two such moments each has a
// segment of kernels, and the difference of the latencies is the sum over the segments.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/report/schedule.h"

namespace fuselage::report {

struct KernelRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct Segment {
  std::vector<OpId> ops = {};  // that it runs, ascending
  KernelRange kernels = {};
  KernelRange reference_kernels = {};
  double worth = 0;                       // time that the plan takes longer here than the reference
  std::vector<std::string> changes = {};  // what it does instead, in words
};

// The segments that differ, in order. What a tensor that is kept saves or costs later is in the segment that
// pays for it. Plans that run different sets of ops (an illegal one ends early) differ in the last segment.
std::vector<Segment> differences(const Schedule& reference, const Schedule& plan);

// The fastest legal one, the first of equals; the number of plans if none is legal.
std::size_t fastest(const std::vector<Schedule>& plans);

}  // namespace fuselage::report

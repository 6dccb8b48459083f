// Plans that overflow fast memory. Under seed and seed-honest a plan may ask for more fast memory than there
// is: the nodes of such a kernel run one by one, and one that doesn't fit on its own costs a fixed penalty in
// place of its cycles, which is a bargain where ops are dear. That is true to the environment, but no machine
// can run such a plan, so whoever shows one says so, always in these words.
#pragma once

#include <string>

#include "fuselage/oracle/simulate.h"
#include "fuselage/walk/rules.h"

namespace fuselage::oracle {

// Kernels that need more than the capacity. Under physical a plan with one is illegal.
int overflows(const Simulation& simulation);
int overflows(const Workload& workload, const walk::Plan& plan, walk::Rules rules);

// "1 kernel overflows", "2 kernels overflow".
std::string overflow_words(int overflows);

// One line without a line feed that says what that means, and which rule set has no such plans.
std::string overflow_meaning();

// Both as a line; empty for a plan without overflows.
std::string overflow_line(int overflows);

}  // namespace fuselage::oracle

// Ctrl-C ends a search, not the program.
#pragma once

#include <atomic>

namespace fuselage::cli {

// From now on the first Ctrl-C sets the flag that is returned, for Budget::cancel: finish with what there is.
// The second does what it always does, it ends the process.
const std::atomic<bool>& stop_on_interrupt();

}  // namespace fuselage::cli

// Ctrl-C and SIGTERM: what ends the program where there is nothing to lose, and only the search where there
// is.
#pragma once

#include <atomic>

namespace fuselage::cli {

// From the start of the program on: either signal ends it with a line on stderr and the exit code that a
// shell gives to who dies of it, 130 or 143. So nobody who waits for input has to be killed.
void end_on_interrupt();

// From now on, which must be after the input has been read, the first Ctrl-C or SIGTERM sets the flag that is
// returned, for Budget::cancel: finish with what there is. One that comes half a second later, or more, ends
// the process. Before that it is the same one: timeout(1) signals its child and then the child's whole group,
// and a terminal and a shell may both pass on what the user pressed once.
const std::atomic<bool>& stop_on_interrupt();

}  // namespace fuselage::cli

// Descriptors 0 to 2 as a program must have them before it opens anything: were one of them closed, the next
// file that is opened would take its number, and answers would be written into it or read from it.
#pragma once

#include <string_view>

namespace fuselage::cli {

// First thing in main. Whoever then reads or writes a stream that was closed gets an error, EBADF, as with
// any closed descriptor; and a reader that leaves early is an error of write(), see write_stdout.
void prepare_standard_streams();

// What can't be written is lost, and nothing else: no answer ever depends on stderr.
void write_stderr(std::string_view text) noexcept;

}  // namespace fuselage::cli

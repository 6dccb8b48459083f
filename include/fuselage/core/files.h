// Whole files in, whole files out. A reader of an output file, or a run that is cut short, never sees half of
// one: what is written gets its name only once it is complete.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage {

// Bytes; more is refused, so that an endless file (/dev/zero) ends in a message rather than out of memory.
inline constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

// What messages call the file: its path, or "stdin" for "-".
std::string source_name(const std::string& path);

// The content of a file, or of the standard input for "-". Error if it is missing, a directory, unreadable or
// longer than max_file_bytes.
std::string read_file(const std::string& path);

// Writes a new file beside `path` and renames it over `path`; makes missing parent directories. A device or a pipe
// is written as it is. After an
// Error whatever was at `path` is unchanged and the new file is gone.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace fuselage

#include "escapes.h"

#include <unistd.h>

#include <cstdlib>

namespace fuselage::cli {

std::string_view restart_line() {
  const auto set_to = [](const char* variable) {
    const char* text = std::getenv(variable);
    return std::string_view(text == nullptr ? "" : text);
  };
  const bool plain = set_to("TERM").empty() || set_to("TERM") == "dumb" || !set_to("NO_COLOR").empty();
  return plain || ::isatty(STDERR_FILENO) != 1 ? "" : "\r\x1b[K";
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F) c = '?';
  return result;
}

}  // namespace fuselage::cli

// Where words go. An answer goes to stdout, in one piece; errors and progress to stderr, so that a pipe
// carries nothing but answers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage::cli {

// False if the reader has gone away: nobody wants more, which is no error. Error if stdout can't be written
// for another reason, such as a full disk.
bool write_stdout(std::string_view text);

void print_error(std::string_view message);  // "fuselage: error: ..."
void print_note(std::string_view message);   // "fuselage: ...", on stderr

// One line on stderr that says what is being done, where stderr is a terminal; it is gone when the work is.
class Progress {
 public:
  explicit Progress(std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  // Now begins item `index` (from 0).
  void show(std::size_t index, std::string_view what) const;

 private:
  std::size_t total_;
  bool visible_;
};

}  // namespace fuselage::cli

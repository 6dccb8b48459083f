#include "replay_lines.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"

namespace fuselage::oracle {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

[[noreturn]] void refuse(const std::string& path, std::string_view problem) {
  fail("{}: cannot be {}: {}; expected a readable file", source_name(path), problem,
       std::generic_category().message(errno));
}

}  // namespace

void LineReader::Close::operator()(std::FILE* file) const {
  if (file != stdin) std::fclose(file);
}

LineReader::LineReader(const std::string& path)
    : path_(path), file_(path == "-" ? stdin : std::fopen(path.c_str(), "rbe")) {
  if (!file_) refuse(path_, "opened");
}

LineReader::LineReader(const std::string& path, const LinePlace& from) : LineReader(path) {
  if (fseeko(file_.get(), static_cast<off_t>(from.offset), SEEK_SET) != 0) refuse(path_, "read");
  next_ = from;
}

bool LineReader::refill() {
  block_.resize(block_bytes);
  block_.resize(std::fread(block_.data(), 1, block_.size(), file_.get()));
  at_ = 0;
  if (std::ferror(file_.get()) != 0) refuse(path_, "read");
  return !block_.empty();
}

bool LineReader::next(std::string& line) {
  line.clear();
  place_ = next_;
  for (;;) {
    const std::string_view rest = std::string_view(block_).substr(at_);
    const std::size_t end = rest.find('\n');
    line.append(rest.substr(0, end));
    if (line.size() > max_file_bytes)
      fail("{}: line {}: longer than {} bytes; expected a shorter line", source_name(path_), place_.number,
           max_file_bytes);
    if (end != std::string_view::npos) {
      at_ += end + 1;
      next_ = {.number = place_.number + 1, .offset = place_.offset + line.size() + 1};
      return true;
    }
    if (refill()) continue;
    next_ = {.number = place_.number + 1, .offset = place_.offset + line.size()};
    return !line.empty();
  }
}

}  // namespace fuselage::oracle

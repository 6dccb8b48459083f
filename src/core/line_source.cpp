#include "fuselage/core/line_source.h"

#include <zstd.h>

#include <filesystem>
#include <fstream>

#include "fuselage/core/error.h"

namespace fuselage {

struct LineSource::Input {
  explicit Input(const std::string& path)
      : file(path, std::ios::binary),
        zstd(path.ends_with(".zst") ? ZSTD_createDCtx() : nullptr, &ZSTD_freeDCtx) {}

  std::ifstream file;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> zstd;
  std::string block = std::string(std::size_t{1} << 18, '\0');
  ZSTD_inBuffer in = {nullptr, 0, 0};  // of block: what isn't decompressed yet
  std::size_t frame_left = 0;          // 0: between two frames
  std::uint64_t bytes = 0;
  Sha256 hash;

  // Empty at the end.
  std::string_view read(const std::string& path) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    if (count == 0 && !file.eof()) fail("{}: cannot be read", path);
    const std::string_view read = std::string_view(block).substr(0, count);
    hash.update(read);
    bytes += count;
    return read;
  }
};

LineSource::LineSource(const std::string& path) : path_(path) {
  if (std::error_code none; std::filesystem::is_other(path, none))
    fail("{}: is a pipe or a device; expected a file on a disk", path);
  input_ = std::make_unique<Input>(path);
  if (!input_->file) fail("{}: cannot be opened; expected a readable file", path);
}

LineSource::~LineSource() = default;

bool LineSource::fill() {
  text_.erase(0, begin_);
  begin_ = 0;
  if (!input_->zstd) {
    const std::string_view read = input_->read(path_);
    text_ += read;
    return !read.empty();
  }
  if (input_->in.pos == input_->in.size) {
    const std::string_view read = input_->read(path_);
    if (read.empty()) {
      if (input_->frame_left != 0) fail("{}: ends within a frame; expected a whole .zst file", path_);
      return false;
    }
    input_->in = {read.data(), read.size(), 0};
  }
  const std::size_t had = text_.size();
  text_.resize(had + ZSTD_DStreamOutSize());
  ZSTD_outBuffer out{text_.data() + had, text_.size() - had, 0};
  const std::size_t left = ZSTD_decompressStream(input_->zstd.get(), &out, &input_->in);
  if (ZSTD_isError(left) != 0) fail("{}: {}; expected a .zst file", path_, ZSTD_getErrorName(left));
  input_->frame_left = left;
  text_.resize(had + out.pos);
  return true;
}

const std::string* LineSource::next() {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = text_.find('\n', searched);
    if (end != std::string::npos) {
      line_.assign(text_, begin_, end - begin_);
      begin_ = end + 1;
      return &line_;
    }
    if (text_.size() - begin_ > max_line_bytes)
      fail("{}: a line is longer than {} bytes; expected a shorter one", path_, max_line_bytes);
    searched = text_.size() - begin_;
    if (fill()) continue;
    if (begin_ == text_.size()) return nullptr;
    line_.assign(text_, begin_, std::string::npos);
    begin_ = text_.size();
    return &line_;
  }
}

std::uint64_t LineSource::bytes() const {
  return input_->bytes;
}

std::string LineSource::sha256() {
  return input_->hash.hex_digest();
}

}  // namespace fuselage

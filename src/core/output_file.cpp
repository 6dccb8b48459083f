#include "fuselage/core/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "fuselage/core/error.h"

namespace fuselage {
namespace {

constexpr int zstd_level = 3;  // zstd's own default

std::string errno_text() {
  return std::generic_category().message(errno);
}

}  // namespace

class OutputFile::Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), buffer_(ZSTD_CStreamOutSize(), '\0') {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, zstd_level);
  }

  // `sink` is given what comes out.
  template <class Sink>
  void compress(std::string_view text, bool last, const Sink& sink) {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const std::size_t left =
          ZSTD_compressStream2(context_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) throw std::logic_error(ZSTD_getErrorName(left));
      sink(std::string_view(buffer_.data(), out.pos));
      if (last ? left == 0 : in.pos == in.size) return;
    }
  }

 private:
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
  std::string buffer_;
};

std::string OutputFile::temporary_name(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / ("." + whole.filename().string() + ".partial")).string();
}

OutputFile::OutputFile(std::string path, bool zstd)
    : path_(std::move(path)),
      temporary_(temporary_name(path_)),
      fd_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      compressor_(zstd ? std::make_unique<Compressor>() : nullptr) {
  if (fd_ < 0) fail("{}: {} cannot be created: {}", path_, temporary_, errno_text());
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!published_) ::unlink(temporary_.c_str());
}

void OutputFile::write_bytes(std::string_view bytes) {
  hash_.update(bytes);
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("{}: cannot be written: {}; expected a disk with room for it", path_, errno_text());
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputFile::write(std::string_view text) {
  if (compressor_)
    compressor_->compress(text, false, [this](std::string_view bytes) { write_bytes(bytes); });
  else
    write_bytes(text);
}

OutputFile::Content OutputFile::finish() {
  if (compressor_) compressor_->compress({}, true, [this](std::string_view bytes) { write_bytes(bytes); });
  const bool stored = ::fsync(fd_) == 0;
  const bool closed = ::close(fd_) == 0;
  fd_ = -1;
  if (!stored || !closed)
    fail("{}: cannot be written: {}; expected a disk with room for it", path_, errno_text());
  return {.bytes = bytes_, .sha256 = hash_.hex_digest()};
}

void OutputFile::publish() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail("{}: cannot be written: {}; expected a writable file name", path_, errno_text());
  published_ = true;
}

}  // namespace fuselage

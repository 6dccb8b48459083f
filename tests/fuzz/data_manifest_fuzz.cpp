// Whatever manifest.json of a data set holds, reading it ends in a manifest that is written as it was read,
// or in an Error that names the file; and so does the record of a shard.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/oracle/data_manifest.h"

using namespace fuselage;
using namespace fuselage::oracle;

namespace {

const std::string source = "manifest.json";

template <class Read>
void read(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(source) == std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read([&] { (void)read_manifest(text, source, ManifestKind::settings); });
  read([&] {
    const DataManifest manifest = read_manifest(text, source);
    const std::string written = manifest_to_json(manifest);
    if (manifest_to_json(read_manifest(written, source)) != written) std::abort();
    for (const ShardRecord& shard : manifest.shards)
      for (const DataFile& file : shard.files)
        if (manifest.path(shard, file).find("..") != std::string::npos) std::abort();
    (void)data_card(manifest);
  });
  read([&] {
    const std::string written = shard_to_json(read_shard(text, source));
    if (shard_to_json(read_shard(written, source)) != written) std::abort();
  });
  return 0;
}

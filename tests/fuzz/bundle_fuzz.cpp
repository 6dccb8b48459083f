// Whatever bundle.json holds, reading it ends in a manifest or in an Error that names the file, and verifying
// the bundle in sentences. Beside it is nothing but a file of no family, which is read by name and hash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/oracle/bundle.h"
#include "own_directory.h"

using namespace fuselage;
using namespace fuselage::oracle;

namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

const std::string& bundle_directory() {
  static const bool written = [] {
    write(own_directory() + "/README.md", "# card\n");
    return true;
  }();
  (void)written;
  return own_directory();
}

void expect_named(const std::string& message, const std::string& directory) {
  if (message.find(directory) == std::string::npos) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& directory = bundle_directory();
  write(directory + "/bundle.json", std::string(reinterpret_cast<const char*>(data), size));
  try {
    (void)read_bundle_manifest(directory);
    for (const std::string& fault : verify_bundle(directory)) expect_named(fault, directory);
  } catch (const Error& error) {
    expect_named(error.what(), directory);
  }
  try {
    (void)read_bundle(directory);  // without a single model
    std::abort();
  } catch (const Error& error) {
    expect_named(error.what(), directory);
  }
  return 0;
}

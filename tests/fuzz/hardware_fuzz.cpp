// Hardware comes as a file and as --set FIELD=VALUE. Either ends in a machine that reads back the same, or in
// an Error that leaves the machine as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuselage/core/error.h"
#include "fuselage/graph/graph_json.h"

using namespace fuselage;

namespace {

void must_read_back(const Hardware& hardware) {
  if (read_hardware(hardware_to_json(hardware), "again.json") != hardware) std::abort();
}

void read_file_text(std::string_view text) {
  Hardware hardware;
  try {
    hardware = read_hardware(text, "fuzz.json");
  } catch (const Error&) {
    return;
  }
  must_read_back(hardware);
}

void read_assignment(std::string_view text) {
  const Hardware before = {
      .fast_mem_capacity = 65536, .slow_mem_bandwidth = 8, .kernel_launch_cost = 100, .max_fusion_depth = 4};
  Hardware hardware = before;
  try {
    set_hardware_field(hardware, text);
  } catch (const Error&) {
    if (hardware != before) std::abort();
    return;
  }
  must_read_back(hardware);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_file_text(text);
  read_assignment(text);
  return 0;
}

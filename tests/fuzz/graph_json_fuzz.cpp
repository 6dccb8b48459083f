// Whatever a graph file holds, reading it ends in workloads or in an Error; and what was read is written so
// that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/graph/analysis.h"
#include "fuselage/graph/graph_json.h"

using namespace fuselage;

namespace {

std::vector<Workload> read_or_refuse(std::string_view text) {
  try {
    return read_workloads(text, "fuzz.json");
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const Workload& workload : read_or_refuse({reinterpret_cast<const char*>(data), size})) {
    const std::string text = workload_to_json(workload);
    const std::vector<Workload> again = read_workloads(text, "again.json");
    if (again.size() != 1 || workload_to_json(again[0]) != text) std::abort();
    if (workload_to_json(read_workloads(workload_to_json_line(workload), "line.json")[0]) != text)
      std::abort();
    if (immediate_dominators(workload.graph).size() != workload.graph.nodes().size()) std::abort();
    if (peak_live_bytes(workload.graph) < 0) std::abort();
  }
  return 0;
}

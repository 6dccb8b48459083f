// Graphs and hardware as JSON, the format of datasets/. A reader refuses what the search could only trip over
// later: every error names the file, the path of the field, its value and what would be right. What is
// written is stable to the byte and reads back to the same bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/core/json.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

// Values between which no cost can overflow a double, whatever the graph: cycles of a node or a launch, and
// bytes per cycle of a link that is not free.
inline constexpr double max_cycles = 1e100;
inline constexpr double min_bandwidth = 1e-100;

// Reads the workloads of a file, in its order (a map's in that of its keys):
// (a) {"nodes": [...], "hardware": {...}}, optionally with "name";
// (b) {"graph": {"nodes": ..., "hardware": ...}}, optionally with "name" and the figures of
// golden/walk/tasks.json,
//     which are ignored;
// (c) {"name of a task": (b), ...};
// (d) JSON Lines of (a) or (b).
// A workload without a name is called after the file (and line). `hardware`, if given, replaces the file's,
// which may then be missing. Error also for names that appear twice, since results are filed by name.
std::vector<Workload> read_workloads(std::string_view text, const std::string& source,
                                     const std::optional<Hardware>& hardware = std::nullopt);

// Reads {"nodes": [...], "hardware": {...}} within a larger file. A node is {id, op, shape: [height, width],
// inputs} with flops (cycles) and output_bytes if they don't follow from op and shape, and with a name (any
// text) if it has one. Ids number the nodes from 0; the file may list them in any order.
Workload read_graph(const JsonField& graph, std::string name,
                    const std::optional<Hardware>& hardware = std::nullopt);

// Reads a name that can also be a file's: 1 to 100 bytes without slashes, control characters or a leading
// dot.
std::string read_name(const JsonField& field);
bool is_name(std::string_view text);  // is it such a name?

// A file of one hardware: {fast_mem_capacity, slow_mem_bandwidth, kernel_launch_cost, max_fusion_depth}.
Hardware read_hardware(std::string_view text, const std::string& source);
Hardware read_hardware(const JsonField& hardware);

// Sets one field from "field=value", as --set on the command line says it.
void set_hardware_field(Hardware& hardware, std::string_view assignment);

// Form (a), one node per line; and the same in a single line, for JSON Lines.
std::string workload_to_json(const Workload& workload);
std::string workload_to_json_line(const Workload& workload);

// The object that read_graph reads, one node per line, each line after the first indented by `indent`.
std::string graph_to_json(const Workload& workload, std::string_view indent);
// In a single line.
std::string hardware_to_json(const Hardware& hardware);

}  // namespace fuselage

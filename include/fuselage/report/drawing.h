// A schedule as a drawing of its graph: every op that a kernel runs is a node in the box of that kernel, so
// that an op that is computed again is there once for each kernel. graphviz's dot puts them in their places.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuselage/report/schedule.h"

namespace fuselage::report {

inline constexpr int no_kernel = -1;
// Nodes of a drawing that dot lays out in seconds, and that a person can still find something in.
inline constexpr std::size_t most_drawn = 4'000;

struct DrawnNode {
  OpId op = 0;
  int kernel = no_kernel;  // none: no kernel runs it
};
struct DrawnEdge {
  int from = 0;  // nodes, by position
  int to = 0;
  TensorId tensor = 0;
};
struct DrawnGraph {
  std::vector<DrawnNode> nodes = {};  // by kernel, in the order in which they run; then those that don't
  std::vector<DrawnEdge> edges = {};
};

// An edge comes from the op in the same kernel, or in the last one before that runs it.
DrawnGraph drawn_graph(const Subject& subject, const Schedule& schedule);

// Kernels that read what others made, each pair (from, to) once, ascending.
std::vector<std::pair<int, int>> kernel_edges(const DrawnGraph& graph);

// DOT: a cluster for every kernel, with its tile, latency and bound; a node for every op, with its number,
// kind and name. Nodes are n0, n1, ... by position, clusters cluster_0, ... by kernel, edges have ids e0, e1,
// ...
std::string dot_of(const Subject& subject, const Schedule& schedule);
// The same with a node k0, k1, ... for every kernel, and one edge between two of them.
std::string overview_dot_of(const Subject& subject, const Schedule& schedule);

// Pixels from the top left corner.
struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};
struct Layout {
  double width = 0;
  double height = 0;
  std::vector<Box> nodes = {};
  std::vector<std::string> edges = {};  // SVG paths, "M1,2C...", with the point of the arrow as their end
  std::vector<Box> clusters = {};       // by kernel; without size where it has no ops
};

struct LayoutSize {
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::size_t clusters = 0;
};

// What dot makes of the text, which must be one of the two above and have so many nodes, edges and clusters.
// ProgramMissing if dot is not there; Error if it fails, takes more than `seconds`, or answers something
// else.
Layout layout_of(const std::string& dot, const LayoutSize& size, double seconds);

// The picture that dot makes of it, as SVG. Error as layout_of.
std::string graph_svg(const std::string& dot, double seconds = 60);

}  // namespace fuselage::report

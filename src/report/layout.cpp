#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fuselage/core/error.h"
#include "fuselage/core/program.h"
#include "fuselage/report/drawing.h"

namespace fuselage::report {
namespace {

using nlohmann::json;

constexpr double pixels_per_inch = 72;  // dot's points

// Numbers of a list that commas and blanks separate.
std::vector<double> numbers_of(std::string_view text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    double number = 0;
    const auto [after, failed] = std::from_chars(at, end, number);
    if (failed != std::errc()) fail("dot: {} is no list of numbers", text);
    numbers.push_back(number);
    at = after;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return numbers;
}

std::vector<double> numbers_of(const json& object, const char* key, std::size_t count) {
  const std::string& text = object.at(key).get_ref<const std::string&>();
  std::vector<double> numbers = numbers_of(text);
  if (numbers.size() != count)
    fail("dot: {}: {} has {} numbers; expected {}", key, text, numbers.size(), count);
  return numbers;
}

double tenth(double value) {
  return std::round(10 * value) / 10;
}

// The number after the letter of "n12", "cluster_3", "e5".
std::size_t number_of(const std::string& name, std::string_view before) {
  std::size_t number = 0;
  const char* const first = name.data() + before.size();
  if (!name.starts_with(before) ||
      std::from_chars(first, name.data() + name.size(), number).ec != std::errc())
    fail("dot: {} is unknown; expected {} and a number", name, before);
  return number;
}

template <class Item>
Item& slot(std::vector<Item>& items, std::size_t at) {
  if (at >= items.size()) fail("dot: number {} is unknown; expected less than {}", at, items.size());
  return items[at];
}

class Reader {
 public:
  Reader(const json& drawing, Layout& layout) : layout_(layout) {
    const auto box = numbers_of(drawing, "bb", 4);
    height_ = box[3];
    layout_.width = tenth(box[2]);
    layout_.height = tenth(box[3]);
    for (const json& object : drawing.value("objects", json::array())) read_object(object);
    for (const json& edge : drawing.value("edges", json::array())) read_edge(edge);
  }

 private:
  void read_object(const json& object) {
    const std::string& name = object.at("name").get_ref<const std::string&>();
    if (name.starts_with("cluster_")) {
      const auto box = numbers_of(object, "bb", 4);
      slot(layout_.clusters, number_of(name, "cluster_")) = {tenth(box[0]), tenth(height_ - box[3]),
                                                             tenth(box[2] - box[0]), tenth(box[3] - box[1])};
      return;
    }
    const auto centre = numbers_of(object, "pos", 2);
    const double width = numbers_of(object, "width", 1)[0] * pixels_per_inch;
    const double height = numbers_of(object, "height", 1)[0] * pixels_per_inch;
    slot(layout_.nodes, number_of(name, name.substr(0, 1))) = {
        tenth(centre[0] - width / 2), tenth(height_ - centre[1] - height / 2), tenth(width), tenth(height)};
  }

  std::string point(double x, double y) const {
    return fmt::format("{:g},{:g}", tenth(x), tenth(height_ - y));
  }

  // dot's "e,X,Y x0,y0 x1,y1 ...": the tip of the arrow, and a cubic spline that ends before it.
  void read_edge(const json& edge) {
    std::string_view text = edge.at("pos").get_ref<const std::string&>();
    const bool has_tip = text.starts_with("e,");
    if (has_tip) text.remove_prefix(2);
    const std::vector<double> numbers = numbers_of(text);
    const std::size_t first = has_tip ? 2 : 0;
    if (numbers.size() < first + 8 || (numbers.size() - first - 2) % 6 != 0)
      fail("dot: pos: {} is no spline", text);
    std::string path = "M" + point(numbers[first], numbers[first + 1]) + "C";
    for (std::size_t i = first + 2; i < numbers.size(); i += 2)
      path += (i == first + 2 ? "" : " ") + point(numbers[i], numbers[i + 1]);
    if (has_tip) path += "L" + point(numbers[0], numbers[1]);
    slot(layout_.edges, number_of(edge.at("id").get_ref<const std::string&>(), "e")) = std::move(path);
  }

  Layout& layout_;
  double height_ = 0;
};

}  // namespace

Layout layout_of(const std::string& dot, const LayoutSize& size, double seconds) {
  const std::string answer =
      run_program({.arguments = {"dot", "-Tjson0"}, .package = "graphviz", .seconds = seconds}, dot);
  Layout layout;
  layout.nodes.resize(size.nodes);
  layout.edges.resize(size.edges);
  layout.clusters.resize(size.clusters);
  try {
    Reader(json::parse(answer), layout);
  } catch (const json::exception& error) {
    fail("dot: its answer can't be read: {}; expected the JSON of graphviz 2.42 or later", error.what());
  }
  const auto is_missing = [](const Box& box) { return box.width <= 0; };
  if (std::ranges::any_of(layout.nodes, is_missing) ||
      std::ranges::any_of(layout.edges, [](const std::string& path) { return path.empty(); }))
    fail("dot: its answer lacks nodes or edges; expected {} and {}", size.nodes, size.edges);
  return layout;
}

std::string graph_svg(const std::string& dot, double seconds) {
  return run_program({.arguments = {"dot", "-Tsvg"}, .package = "graphviz", .seconds = seconds}, dot);
}

}  // namespace fuselage::report

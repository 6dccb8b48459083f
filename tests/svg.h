// What is in an SVG of gnuplot's, read as any XML: texts with their places, and the places that each curve
// goes through. Tests compare them with the numbers that were to be drawn.
#pragma once

#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fuselage {

struct SvgText {
  std::string text;
  std::string anchor;
  double x = 0;
  double y = 0;
};

struct SvgCurve {
  std::string title;
  std::vector<std::pair<double, double>> line;  // corners of the path
  std::vector<std::pair<double, double>> dots;  // marks at points
  std::vector<std::vector<std::pair<double, double>>> areas;
};

class Svg {
 public:
  explicit Svg(const std::string& text) {
    std::istringstream in(text);
    boost::property_tree::ptree tree;
    boost::property_tree::read_xml(in, tree);  // throws for what is no XML
    const auto& svg = tree.get_child("svg");
    title = svg.get<std::string>("title");
    note = svg.get<std::string>("desc");
    read(svg, nullptr);
  }

  std::string title;
  std::string note;
  std::vector<SvgText> texts;
  std::vector<SvgCurve> curves;

  bool has_text(const std::string& wanted) const {
    for (const SvgText& text : texts)
      if (text.text == wanted) return true;
    return false;
  }
  // Where the figure stands below an axis, or beside one.
  double x_of(const std::string& label) const { return place_of(label, "middle").x; }
  double y_of(const std::string& label) const { return place_of(label, "end").y; }

 private:
  using Tree = boost::property_tree::ptree;

  const SvgText& place_of(const std::string& label, const std::string& anchor) const {
    static const SvgText none;
    for (const SvgText& text : texts)
      if (text.text == label && text.anchor == anchor) return text;
    ADD_FAILURE() << "no text " << label << ", " << anchor;
    return none;
  }

  static std::string attribute(const Tree& tree, const char* name) {
    return tree.get<std::string>(std::string("<xmlattr>.") + name, "");
  }

  static std::vector<std::pair<double, double>> points_of(std::string text) {
    for (char& c : text)
      if (c == ',' || c == 'M' || c == 'L' || c == 'Z') c = ' ';
    std::istringstream in(text);
    std::vector<std::pair<double, double>> points;
    for (double x = 0, y = 0; in >> x >> y;) points.emplace_back(x, y);
    return points;
  }

  static std::pair<double, double> moved_to(const std::string& transform) {
    double x = std::nan("");
    double y = x;
    std::sscanf(transform.c_str(), "translate(%lf,%lf)", &x, &y);
    return {x, y};
  }

  void read(const Tree& tree, SvgCurve* curve) {
    for (const auto& [name, child] : tree) {
      if (name == "defs" || name == "<xmlattr>") continue;
      if (name == "g" && attribute(child, "id").rfind("gnuplot_plot", 0) == 0) {
        curves.push_back({.title = child.get<std::string>("title"), .line = {}, .dots = {}, .areas = {}});
        SvgCurve inner = curves.back();
        read(child, &inner);
        curves.back() = inner;
        continue;
      }
      if (name == "g" && child.count("text") > 0) {
        const auto [x, y] = moved_to(attribute(child, "transform"));
        texts.push_back({child.get<std::string>("text"), attribute(child, "text-anchor"), x, y});
      }
      if (curve != nullptr) add_to(*curve, name, child);
      read(child, curve);
    }
  }

  static void add_to(SvgCurve& curve, const std::string& name, const Tree& shape) {
    if (name == "path")
      for (const auto& point : points_of(attribute(shape, "d"))) curve.line.push_back(point);
    if (name == "polygon") curve.areas.push_back(points_of(attribute(shape, "points")));
    if (name == "use") curve.dots.push_back(moved_to(attribute(shape, "transform")));
  }
};

}  // namespace fuselage

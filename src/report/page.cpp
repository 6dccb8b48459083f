#include "fuselage/report/page.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "fuselage/core/program.h"
#include "fuselage/report/compare.h"
#include "fuselage/report/drawing.h"
#include "fuselage/report/export.h"
#include "fuselage/report/label.h"
#include "page_template.h"

namespace fuselage::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t longest_name = 100;  // characters

// A drawing that is to be made, and what came of it.
struct Job {
  const Subject* subject = nullptr;
  const Schedule* plan = nullptr;
  bool overview = false;
  DrawnGraph graph = {};
  std::optional<Layout> layout = {};
  std::string note = {};
};

void draw(Job& job, const PageOptions& options) {
  const char* what = job.overview ? "the drawing of its kernels" : "the drawing of its ops";
  job.graph = drawn_graph(*job.subject, *job.plan);
  const DrawnGraph& graph = job.graph;
  const std::size_t kernels = job.plan->kernels.size();
  const LayoutSize size =
      job.overview
          ? LayoutSize{.nodes = kernels, .edges = kernel_edges(graph).size()}
          : LayoutSize{.nodes = graph.nodes.size(), .edges = graph.edges.size(), .clusters = kernels};
  const std::string left_out = fmt::format(
      "{}, {}: {} is left out: ", label_of(job.subject->name, longest_name), job.plan->label, what);
  if (size.nodes > options.most_drawn) {
    job.note = left_out + fmt::format("{} nodes, of {} at most", size.nodes, options.most_drawn);
    return;
  }
  const std::string dot =
      job.overview ? overview_dot_of(*job.subject, *job.plan) : dot_of(*job.subject, *job.plan);
  try {
    job.layout = layout_of(dot, size, options.layout_seconds);
  } catch (const ProgramMissing&) {
    throw;
  } catch (const Error& error) {
    job.note = left_out + error.what();
  }
}

ordered_json box_json(const Box& box) {
  return {{"x", box.x}, {"y", box.y}, {"w", box.width}, {"h", box.height}};
}

// Nodes of a layout, each with what `about` says of it.
template <class About>
ordered_json boxes_json(const std::vector<Box>& boxes, const About& about) {
  ordered_json list = ordered_json::array();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    ordered_json one = about(i);
    one.update(box_json(boxes[i]));
    list.push_back(std::move(one));
  }
  return list;
}

ordered_json drawing_json(const Job& job) {
  if (!job.layout) return nullptr;
  const DrawnGraph& graph = job.graph;
  ordered_json json = {{"width", job.layout->width}, {"height", job.layout->height}};
  json["nodes"] = boxes_json(job.layout->nodes, [&](std::size_t i) {
    return ordered_json{{"op", graph.nodes[i].op}, {"kernel", graph.nodes[i].kernel}};
  });
  json["edges"] = ordered_json::array();
  for (std::size_t i = 0; i < graph.edges.size(); ++i)
    json["edges"].push_back({{"from", graph.edges[i].from},
                             {"to", graph.edges[i].to},
                             {"tensor", graph.edges[i].tensor},
                             {"path", job.layout->edges[i]}});
  json["clusters"] = ordered_json::array();
  for (std::size_t k = 0; k < job.layout->clusters.size(); ++k) {
    if (job.layout->clusters[k].width <= 0) continue;  // a kernel without ops
    ordered_json cluster = {{"kernel", k}};
    cluster.update(box_json(job.layout->clusters[k]));
    json["clusters"].push_back(std::move(cluster));
  }
  return json;
}

ordered_json overview_json(const Job& job) {
  if (!job.layout) return nullptr;
  ordered_json json = {{"width", job.layout->width}, {"height", job.layout->height}};
  json["nodes"] = boxes_json(job.layout->nodes, [](std::size_t i) { return ordered_json{{"kernel", i}}; });
  json["edges"] = ordered_json::array();
  const auto edges = kernel_edges(job.graph);
  for (std::size_t i = 0; i < edges.size(); ++i)
    json["edges"].push_back(
        {{"from", edges[i].first}, {"to", edges[i].second}, {"path", job.layout->edges[i]}});
  return json;
}

ordered_json comparison_json(const std::vector<Schedule>& plans) {
  const std::size_t reference = fastest(plans);
  if (plans.size() < 2 || reference == plans.size()) return nullptr;
  ordered_json json = {{"reference", reference}, {"plans", ordered_json::array()}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i == reference) continue;
    ordered_json segments = ordered_json::array();
    for (const Segment& segment : differences(plans[reference], plans[i]))
      segments.push_back(
          {{"ops", segment.ops},
           {"kernels", {segment.kernels.first, segment.kernels.count}},
           {"reference_kernels", {segment.reference_kernels.first, segment.reference_kernels.count}},
           {"worth", segment.worth},
           {"changes", segment.changes}});
    json["plans"].push_back({{"plan", i},
                             {"difference", plans[i].latency - plans[reference].latency},
                             {"segments", std::move(segments)}});
  }
  return json;
}

ordered_json log_json(const std::vector<LogEntry>& log) {
  if (log.empty()) return nullptr;
  ordered_json json = ordered_json::array();
  for (const LogEntry& entry : log)
    json.push_back(
        {{"seconds", entry.seconds},
         {"steps", entry.steps},
         {"engine", entry.engine},
         {"incumbent", entry.incumbent ? ordered_json(*entry.incumbent) : ordered_json(nullptr)},
         {"lower_bound", entry.lower_bound ? ordered_json(*entry.lower_bound) : ordered_json(nullptr)}});
  return json;
}

std::vector<Job> jobs_of(const std::vector<PageGraph>& graphs) {
  std::vector<Job> jobs;
  for (const PageGraph& graph : graphs)
    for (const Schedule& plan : graph.plans)
      for (const bool overview : {false, true})
        jobs.push_back({.subject = &graph.subject, .plan = &plan, .overview = overview});
  return jobs;
}

// "seed-honest"; "seed, physical in free order" of plans under different ones.
std::string rules_of(const std::vector<Schedule>& plans) {
  std::vector<std::string> all;
  for (const Schedule& plan : plans) {
    const std::string rules = plan.rules + (plan.order == "free" ? " in free order" : "");
    if (std::ranges::find(all, rules) == all.end()) all.push_back(rules);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

// Plans of one graph under different rules are graphs of their own here: their latencies are not comparable.
std::vector<std::string> names_of(const std::vector<PageGraph>& graphs) {
  std::map<std::string, int> count;
  for (const PageGraph& graph : graphs) ++count[graph.subject.name];
  std::vector<std::string> names;
  for (const PageGraph& graph : graphs)
    names.push_back(count[graph.subject.name] == 1
                        ? graph.subject.name
                        : fmt::format("{} ({})", graph.subject.name, rules_of(graph.plans)));
  return names;
}

// In the order of jobs_of.
ordered_json graphs_json(const std::vector<PageGraph>& graphs, const std::vector<Job>& jobs) {
  ordered_json list = ordered_json::array();
  const std::vector<std::string> names = names_of(graphs);
  auto job = jobs.begin();
  for (const PageGraph& graph : graphs) {
    ordered_json json = subject_json(graph.subject);
    json["name"] = names[list.size()];
    json["rules"] = rules_of(graph.plans);
    json["plans"] = ordered_json::array();
    for (const Schedule& plan : graph.plans) {
      ordered_json one = schedule_json(plan);
      one["drawing"] = drawing_json(*job++);
      one["overview"] = overview_json(*job++);
      json["plans"].push_back(std::move(one));
    }
    json["comparison"] = comparison_json(graph.plans);
    json["log"] = log_json(graph.log);
    list.push_back(std::move(json));
  }
  return list;
}

// Within a script element nothing may look like its end.
std::string script_text(const ordered_json& json) {
  std::string text;
  for (const char c : json.dump()) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string title_of(const std::vector<PageGraph>& graphs) {
  if (graphs.size() == 1) return "Fuselage: " + label_of(graphs.front().subject.name, longest_name);
  return fmt::format("Fuselage: {} graphs", graphs.size());
}

void replace(std::string& text, std::string_view marker, const std::string& with) {
  const std::size_t at = text.find(marker);
  if (at == std::string::npos) throw std::logic_error(fmt::format("the page has no {}", marker));
  text.replace(at, marker.size(), with);
}

}  // namespace

Page page_of(const std::vector<PageGraph>& graphs, const PageOptions& options) {
  std::vector<Job> jobs = jobs_of(graphs);
  std::mutex telling;
  std::size_t done = 0;
  tbb::parallel_for(std::size_t{0}, jobs.size(), [&](std::size_t i) {
    draw(jobs[i], options);
    const std::lock_guard lock(telling);
    if (options.drawn) options.drawn(++done, jobs.size());
  });
  const ordered_json data = {{"version", options.version}, {"graphs", graphs_json(graphs, jobs)}};
  Page page = {.html = std::string(page_template())};
  for (const Job& job : jobs)
    if (!job.note.empty()) page.notes.push_back(job.note);
  replace(page.html, "/*DATA*/",
          script_text(data));  // after the title in the page, so that no title is taken for it
  replace(page.html, "<!--TITLE-->", html_text(title_of(graphs)));
  return page;
}

}  // namespace fuselage::report

#include "plan_views.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/oracle/grid_solve.h"
#include "fuselage/oracle/overflow.h"
#include "fuselage/oracle/solve.h"
#include "fuselage/report/label.h"
#include "fuselage/walk/plan_json.h"
#include "grid_judge.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

constexpr std::size_t longest_label = 60;  // characters

std::string stem_of(const std::string& path) {
  return path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
}

class Views {
 public:
  explicit Views(const PlanViewOptions& options) : options_(options) {}

  void add(const std::string& file) {
    const std::string text = read_file(file);
    const std::string source = source_name(file);
    is_grid_plan(options_.grid, text, source) ? add_grid(file, text, source) : add_walk(file, text, source);
  }

  std::vector<report::PageGraph> take() {
    for (std::size_t i = 0; i < graphs_.size(); ++i) name_apart(graphs_[i].plans, files_[i]);
    return std::move(graphs_);
  }

 private:
  void add_walk(const std::string& file, const std::string& text, const std::string& source) {
    const walk::PlanFile plan = walk::read_plan(text, source);
    report::Schedule schedule = report::schedule_of(plan, stem_of(file));
    if (!schedule.doubt.empty())
      print_note(fmt::format("{}: {}; what else the file claims is left out", source, schedule.doubt));
    if (schedule.overflows > 0)
      print_note(fmt::format("{}: {} ({})", source, oracle::overflow_words(schedule.overflows),
                             oracle::overflow_meaning()));
    if (place(report::subject_of(plan.workload), std::move(schedule), file) && options_.greedy)
      add_greedy(plan.workload.name, [&] { return greedy_of(plan); });
  }

  void add_grid(const std::string& file, const std::string& text, const std::string& source) {
    if (!judge_) judge_ = read_grid_judge(options_.grid.problem, options_.grid.judge);
    const GridVerdict verdict = judge_grid_plan(*judge_, text, source);
    report::Schedule schedule =
        report::schedule_of(judge_->instance, judge_->rules, verdict.file.plan, stem_of(file));
    if (verdict.scores) schedule.naive_latency = verdict.scores->naive_latency;
    if (place(grid_subject(), std::move(schedule), file) && options_.greedy)
      add_greedy(judge_->source, [&] { return grid_greedy(); });
  }

  report::Subject grid_subject() const {
    return report::subject_of(judge_->instance, report::label_of(stem_of(judge_->source), longest_label));
  }

  // Is it a graph, under rules, that no plan before was of?
  bool place(report::Subject subject, report::Schedule schedule, const std::string& file) {
    const std::string key = subject.name + '\n' + subject.key + '\n' + schedule.rules;
    const auto [at, is_new] = number_of_.try_emplace(key, graphs_.size());
    if (is_new) {
      graphs_.push_back({.subject = std::move(subject)});
      files_.emplace_back();
    }
    graphs_[at->second].plans.push_back(std::move(schedule));
    files_[at->second].push_back(file);
    return is_new;
  }

  // Greedy may have no plan where others have one.
  template <class Make>
  void add_greedy(const std::string& name, const Make& make) {
    try {
      if (std::optional<std::pair<report::Subject, report::Schedule>> greedy = make()) {
        place(std::move(greedy->first), std::move(greedy->second), "greedy");
        return;
      }
      print_note(fmt::format("{}: greedy finds no plan", report::label_of(name, longest_label)));
    } catch (const Error& error) {
      print_note(
          fmt::format("{}: greedy finds no plan: {}", report::label_of(name, longest_label), error.what()));
    }
  }

  static std::optional<std::pair<report::Subject, report::Schedule>> greedy_of(const walk::PlanFile& plan) {
    const oracle::Solution solution =
        oracle::solve(plan.workload, {.rules = plan.rules, .engine = oracle::Engine::greedy});
    if (!solution.found) return std::nullopt;
    walk::PlanFile greedy = {.workload = plan.workload, .rules = plan.rules, .kernels = solution.plan};
    greedy.latency = solution.latency;
    return std::pair(report::subject_of(plan.workload), report::schedule_of(greedy, "greedy"));
  }

  std::optional<std::pair<report::Subject, report::Schedule>> grid_greedy() const {
    const oracle::GridSolution solution =
        oracle::solve_grid(judge_->instance, {.rules = judge_->rules, .engine = oracle::Engine::greedy});
    return std::pair(grid_subject(),
                     report::schedule_of(judge_->instance, judge_->rules, solution.plan, "greedy"));
  }

  // By their paths where the names of the files are alike, by numbers where those are, too.
  static void name_apart(std::vector<report::Schedule>& plans, const std::vector<std::string>& files) {
    std::map<std::string, int> count;
    for (const report::Schedule& plan : plans) ++count[plan.label];
    std::map<std::string, int> named;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (count[plans[i].label] > 1) plans[i].label = tail_of(files[i]);
      plans[i].label = report::label_of(plans[i].label, longest_label);
      if (const int number = ++named[plans[i].label]; number > 1)
        plans[i].label += fmt::format(" ({})", number);
    }
  }

  // Paths differ at their ends.
  static std::string tail_of(const std::string& path) {
    if (path.size() < longest_label) return path;
    std::size_t from = path.size() - longest_label + 2;
    while (from < path.size() && (static_cast<unsigned char>(path[from]) & 0xc0) == 0x80) ++from;
    return "\xe2\x80\xa6" + path.substr(from);
  }

  const PlanViewOptions& options_;
  std::optional<GridJudge> judge_;
  std::map<std::string, std::size_t> number_of_;
  std::vector<report::PageGraph> graphs_;
  std::vector<std::vector<std::string>> files_;  // of the plans of each graph
};

report::PageGraph* find_graph(std::vector<report::PageGraph>& graphs, const std::string& name) {
  for (report::PageGraph& graph : graphs)
    if (graph.subject.name == name) return &graph;
  return nullptr;
}

}  // namespace

std::vector<report::PageGraph> read_plan_views(const PlanViewOptions& options) {
  refuse_two_stdins(options.grid, options.files);
  Views views(options);
  for (const std::string& file : options.files) views.add(file);
  return views.take();
}

void refuse_overwriting(const std::string& out, const std::vector<std::string>& files) {
  std::error_code none;
  for (const std::string& file : files)
    if (out == file ? out != "-" : std::filesystem::equivalent(out, file, none))
      fail("--out: {} is one of the plans; expected another file", out);
}

void add_search_log(const std::string& path, std::vector<report::PageGraph>& graphs) {
  const std::string source = source_name(path);
  const std::vector<report::LogLine> lines = report::read_search_log(read_file(path), source);
  if (lines.empty()) fail("{}: is empty; expected what 'fuselage search --log' writes", source);
  bool any = false;
  for (const report::LogLine& line : lines) {
    report::PageGraph* const graph = find_graph(graphs, line.graph);
    if (!graph) continue;
    graph->log.push_back(line.entry);
    any = true;
  }
  if (!any)
    fail("{}: begins with the search of {}, and no plan is of a graph in it; expected the log of {}", source,
         quote(lines.front().graph), quote(graphs.front().subject.name));
}

}  // namespace fuselage::cli

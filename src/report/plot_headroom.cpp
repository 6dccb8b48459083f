#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fuselage/core/error.h"
#include "plot_tables.h"

namespace fuselage::report {
namespace {

constexpr double score_scale = 0.2;  // the improvement that the environment scores as 1

constexpr std::string_view rules_of_published = "seed";
constexpr std::string_view expected = "what 'fuselage headroom --json' writes";

// Bars that are not there, of one reason: "heuristic: illegal on a, b and 3 more".
struct LeftOut {
  std::string what = {};
  std::vector<std::string> tasks = {};

  std::string text() const {
    constexpr std::size_t most = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(tasks.size(), most); ++i)
      names += (names.empty() ? "" : ", ") + tasks[i];
    if (tasks.size() > most) names += fmt::format(" and {} more", tasks.size() - most);
    return what + " on " + names;
  }
};

class HeadroomPlot {
 public:
  explicit HeadroomPlot(const HeadroomOptions& options) : rules_(options.rules) {
    plot_.mark = PlotMark::bars;
    plot_.title = "What can be gained over greedy";
    plot_.y.label = "improvement over greedy, %";
    plot_.panels.emplace_back();
  }

  void add(const PlotInput& file) {
    const Json json = read_document(file, "results", expected);
    const JsonField document(json, file.source);
    const JsonField results = document.required("results");
    for (std::size_t i = 0; i < results.array_size(); ++i) {
      const JsonField task = results.element(i);
      if (task.has("engines"))
        add_grid(task);
      else if (const auto rules = task.optional("rules"); rules && rules->value().is_array())
        add_walk(task);
      else
        task.refuse(fmt::format("has neither a list of rules nor engines; expected {}", expected));
    }
  }

  Plot take() && {
    plot_.note = rules_ ? fmt::format("Rules {}.", *rules_) : std::string();
    if (published_) plot_.note += " 3B, 8B: language models, by their published scores.";
    if (other_published_ || !left_out_.empty()) plot_.note += " Left out:";
    if (other_published_)
      plot_.note += fmt::format(" published scores (measured under {}){}", rules_of_published,
                                left_out_.empty() ? "." : ";");
    for (const LeftOut& bars : left_out_)
      plot_.note += fmt::format(" {}{}", bars.text(), &bars == &left_out_.back() ? "." : ";");
    if (unproven_) plot_.note += " Not every optimum is proven: then the best plan found.";
    return std::move(plot_);
  }

 private:
  void add_walk(const JsonField& task) {
    const JsonField all = task.required("rules");
    if (all.array_size() == 0) return;  // a graph that was refused
    const std::size_t place = place_of(all);
    const JsonField rules = all.element(place);
    const JsonField best_constant = rules.required("best_constant");
    const JsonField policies = rules.required("policies");
    const JsonField optimum = rules.required("optimum");
    begin_task(task);
    add_policy(policies, best_constant.string(), "best constant action");
    add_policy(policies, "heuristic", "heuristic");
    const JsonField published = task.required("published");
    if (!published.is_null() && *rules_ != rules_of_published) {
      other_published_ = true;
    } else if (!published.is_null()) {
      published_ = true;
      add_bar("3B (published)", score_scale * number_at(published, "score_3b"));
      add_bar("8B (published)", score_scale * number_at(published, "score_8b"));
    }
    const JsonField gain = optimum.required("improvement");
    if (!gain.is_null())
      add_bar("optimum", gain.number());
    else
      leave_out("optimum: none found");
    unproven_ = unproven_ || optimum.required("proof").string() != "optimal";
  }

  static double number_at(const JsonField& object, std::string_view key) {
    const JsonField field = object.required(key);
    return field.number();
  }

  // Of the rule set that is asked for, or of the first.
  std::size_t place_of(const JsonField& all) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.array_size(); ++i) {
      const JsonField one = all.element(i);
      names.push_back(one.required("rules").string());
      if (!rules_) rules_ = names.back();
      if (names.back() == *rules_) return i;
    }
    all.refuse(fmt::format("has no rule set {}; expected --rules to be one of {}", quote(*rules_),
                           listed(names, 12)));
  }

  void add_policy(const JsonField& policies, const std::string& name, const char* series) {
    for (std::size_t i = 0; i < policies.array_size(); ++i) {
      const JsonField policy = policies.element(i);
      if (policy.required("name").string() != name) continue;
      const JsonField gain = policy.required("improvement");
      if (!gain.is_null())
        add_bar(series, gain.number());
      else
        leave_out(fmt::format("{}: illegal", series));
    }
  }

  void add_grid(const JsonField& task) {
    const JsonField rules = task.required("rules");
    if (!rules_) rules_ = rules.string();
    if (rules.string() != *rules_) return;
    const JsonField error = task.required("error");
    if (!error.is_null()) return;
    const double greedy = number_at(task, "greedy_latency");
    begin_task(task);
    const JsonField engines = task.required("engines");
    for (std::size_t i = 0; i < engines.array_size(); ++i) {
      const JsonField engine = engines.element(i);
      const JsonField latency = engine.required("latency");
      const std::string& name = engine.required("engine").string();
      if (!latency.is_null())
        add_bar(name, 1 - latency.number() / greedy);
      else
        leave_out(name + ": no plan");
    }
    add_bar("lower bound", 1 - number_at(task, "lower_bound") / greedy);
  }

  // The one that bars are about from now on.
  void begin_task(const JsonField& task) {
    category_ = category_of(plot_, task.required("name").string());
    source_ = source_of(task);
  }

  void add_bar(std::string_view series, double share) {
    PlotSeries& bars = series_of(plot_.panels.front(), series);
    sources_.add("", series, plot_.categories[category_], source_);
    bars.points.push_back({.x = static_cast<double>(category_), .y = 100 * share});
  }

  // Of the task that bars are about.
  void leave_out(std::string what) {
    auto place = std::find_if(left_out_.begin(), left_out_.end(),
                              [&](const LeftOut& bars) { return bars.what == what; });
    if (place == left_out_.end()) place = left_out_.insert(place, LeftOut{.what = std::move(what)});
    place->tasks.push_back(plot_.categories[category_]);
  }

  Plot plot_;
  std::size_t category_ = 0;
  std::string source_;
  Sources sources_;
  std::optional<std::string> rules_;
  bool published_ = false;        // bars of them are drawn
  bool other_published_ = false;  // there are some, of other rules
  std::vector<LeftOut> left_out_;
  bool unproven_ = false;
};

}  // namespace

Plot headroom_plot(std::span<const PlotInput> files, const HeadroomOptions& options) {
  HeadroomPlot plot(options);
  for (const PlotInput& file : files) plot.add(file);
  return std::move(plot).take();
}

}  // namespace fuselage::report

#include "train_bundle.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "bundle_card.h"
#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/json.h"
#include "fuselage/learn/ranker.h"
#include "fuselage/oracle/bundle.h"
#include "fuselage/oracle/grid_decisions.h"
#include "fuselage/oracle/walk_training.h"
#include "interrupt.h"
#include "report_cells.h"
#include "schedule_fit.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;
using oracle::GraphKind;

constexpr std::size_t progress_parts = 1000;
// Graphs with 8 to 28 ops more than those trained on, to measure on: of each kind an eighth as many, and not
// more than these.
constexpr int most_larger_graphs = 60;
constexpr std::size_t beam_width = 8;

constexpr std::string_view config_file = "config.json";
constexpr std::string_view checkpoint_file = "checkpoint.safetensors";
constexpr std::array<std::string_view, 3> stages = {"schedules", "decisions", "grid"};
constexpr std::string_view beam_stage = "beam";  // a part of the figures of decisions

struct Interrupted {};

// Shows how a stage comes along, and ends it with Ctrl-C.
class Stage {
 public:
  explicit Stage(std::string words) : words_(std::move(words)), progress_(progress_parts) {}

  std::function<void(double)> teller() {
    return [this, &stop = stop_on_interrupt()](double part) {
      if (stop) throw Interrupted();
      progress_.show(static_cast<std::size_t>(part * progress_parts), words_);
    };
  }

 private:
  std::string words_;
  Progress progress_;
};

ordered_json estimate_json(const learn::Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

ordered_json ranking_json(const learn::PerRankMetric<learn::Estimate>& figures) {
  ordered_json json;
  for (std::size_t m = 0; m < figures.size(); ++m)
    json[std::string(learn::rank_metric_names[m])] = estimate_json(figures[m]);
  return json;
}

ordered_json schedule_figures(const learn::ScheduleModel& model, const learn::Schedules& set) {
  const std::vector<float> scores = model.scores(set);
  std::vector<learn::GroupFigures> figures;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    const std::size_t first = set.first_schedule[g];
    const std::size_t count = set.first_schedule[g + 1] - first;
    const std::vector<double> of_group(scores.begin() + static_cast<std::ptrdiff_t>(first),
                                       scores.begin() + static_cast<std::ptrdiff_t>(first + count));
    if (const auto one =
            learn::group_figures({.costs = std::span(set.costs).subspan(first, count), .scores = of_group}))
      figures.push_back(*one);
  }
  if (figures.empty()) return {{"graphs", 0}};
  ordered_json json = ranking_json(learn::bootstrap(figures));
  json["graphs"] = figures.size();
  return json;
}

ordered_json beam_json(const oracle::GuidedFigures& figures) {
  return {{"graphs", figures.graphs},
          {"gap", estimate_json(figures.gap)},
          {"steps", figures.steps},
          {"unguided_gap", estimate_json(figures.unguided_gap)},
          {"unguided_steps", figures.unguided_steps},
          {"share_of_steps", figures.share()}};
}

class BundleTrainer {
 public:
  BundleTrainer(const TrainConfig& config, std::string out)
      : config_(config), bundle_(*config.bundle), out_(std::move(out)), work_(out_ + ".partial") {}

  void begin(const std::string& config_text) {
    namespace fs = std::filesystem;
    std::error_code unreadable;
    const bool is_there = fs::exists(out_, unreadable);
    if (unreadable) fail("--out: {}: {}; expected the name of a directory", out_, unreadable.message());
    if (is_there && !fs::exists(out_ + "/bundle.json") && !(fs::is_directory(out_) && fs::is_empty(out_)))
      fail("--out: {} is there and no bundle; expected a new directory, or a bundle to replace", out_);
    const std::string begun = path(config_file);
    if (fs::exists(work_) && !fs::exists(begun) && !(fs::is_directory(work_) && fs::is_empty(work_)))
      fail("--out: {} is there and no training that was begun; expected no such directory, or another --out",
           work_);
    if (fs::exists(begun) && read_file(begun) != config_text)
      fail("{}: begun with another configuration; expected the same, or no such directory", work_);
    if (fs::exists(begun))
      print_note(fmt::format("goes on with what is in {}", work_));
    else
      write_file_atomically(begun, config_text);
  }

  void run() {
    if (!has(oracle::walk_schedules_file)) train_schedules();
    if (!has(oracle::walk_value_file)) train_decisions();
    if (!has(stage_name(beam_stage))) measure_beams();
    if (bundle_.grid_problems > 0 && !has(oracle::grid_decisions_file)) train_grid();
    finish();
  }

  const ordered_json& metrics() const { return metrics_; }

 private:
  std::string path(std::string_view name) const { return work_ + "/" + std::string(name); }
  bool has(std::string_view name) const { return std::filesystem::exists(path(name)); }
  static std::string stage_name(std::string_view stage) { return fmt::format("stage-{}.json", stage); }
  std::string stage_file(std::string_view stage) const { return path(stage_name(stage)); }
  void note(std::string_view stage, const ordered_json& metrics) const {
    write_file_atomically(stage_file(stage), metrics.dump());
  }

  oracle::DrawOptions draw_options() const {
    return {.min_ops = bundle_.min_ops, .max_ops = bundle_.max_ops};
  }
  std::vector<oracle::DrawnWorkload> workloads() const {
    return oracle::draw_workloads(bundle_.graphs, draw_options(), config_.seed);
  }
  // None of which is like those trained on.
  std::vector<oracle::DrawnWorkload> larger() const {
    return oracle::draw_workloads(std::clamp(bundle_.graphs / 8, 1, most_larger_graphs),
                                  {.min_ops = bundle_.max_ops + 8, .max_ops = bundle_.max_ops + 28},
                                  config_.seed + 1);
  }

  void train_schedules() {
    Stage data("schedules of graphs are recorded");
    const oracle::ScheduleSet set = oracle::draw_schedules(workloads(), bundle_.schedules, data.teller());
    learn::ScheduleModelShape shape = config_.model;
    shape.scorer.features = static_cast<learn::Index>(walk::token_schema().size());
    shape.facts = static_cast<learn::Index>(walk::workload_schema().size());
    learn::ScheduleModel model(shape, config_.seed);
    model.standardise(set.train);
    ScheduleFit fit(model, {.train = set.train, .validation = set.validation}, config_.training,
                    path(checkpoint_file));
    if (!fit.run()) throw Interrupted();
    Stage measuring("schedules of larger graphs are recorded");
    std::vector<oracle::DrawnWorkload> large = larger();
    for (auto& workload : large) workload.split = learn::Split::test;
    const oracle::ScheduleSet test = oracle::draw_schedules(large, bundle_.schedules, measuring.teller());
    note("schedules", {{"train_graphs", set.train.groups()},
                       {"train_schedules", set.train.schedules()},
                       {"epochs", config_.training.epochs},
                       {"mixed", schedule_figures(model, set.test_mixed)},
                       {"memory_bound", schedule_figures(model, set.test_memory_bound)},
                       {"larger_mixed", schedule_figures(model, test.test_mixed)},
                       {"larger_memory_bound", schedule_figures(model, test.test_memory_bound)}});
    model.save(path(oracle::walk_schedules_file), oracle::schedule_fingerprints());
    std::filesystem::remove(path(checkpoint_file));
  }

  void train_decisions() {
    const auto model = std::make_shared<const learn::ScheduleModel>(
        learn::ScheduleModel::load(path(oracle::walk_schedules_file), oracle::schedule_fingerprints()));
    const std::vector<oracle::DrawnWorkload> drawn = workloads();
    Stage stage("decisions are labelled with their regret");
    const oracle::DecisionTraining trained =
        oracle::train_decisions(drawn, *model, config_.seed, stage.teller());
    note("decisions", {{"states", trained.states},
                       {"candidates", trained.candidates},
                       {"value_error", trained.value_error},
                       {"value_spread", trained.value_spread}});
    learn::save_ranker(path(oracle::walk_decisions_file), trained.decisions);
    trained.value.save(path(oracle::walk_value_file), oracle::value_fingerprints());
  }

  // The guided beam against the unguided one, on the graphs of the test split and on larger ones.
  void measure_beams() {
    const oracle::WalkModels models = {
        .decisions = std::make_shared<const learn::FlatTrees>(
            learn::read_flat_trees(path(oracle::walk_decisions_file))),
        .schedules = std::make_shared<const learn::ScheduleModel>(
            learn::ScheduleModel::load(path(oracle::walk_schedules_file), oracle::schedule_fingerprints())),
        .value = std::make_shared<const learn::ValueHead>(
            learn::ValueHead::load(path(oracle::walk_value_file), oracle::value_fingerprints()))};
    Stage stage("guided searches are measured");
    ordered_json json;
    double done = 0;
    const auto measure = [&, tell = stage.teller()](const std::string& key, const auto& graphs,
                                                    const oracle::WalkGuideOptions& options) {
      tell(done++ / 6);
      json[key] = beam_json(oracle::guided_beam(graphs, models, beam_width, options));
    };
    const std::vector<oracle::DrawnWorkload> drawn = workloads(), large = larger();
    for (const GraphKind kind : {GraphKind::mixed, GraphKind::memory_bound}) {
      std::vector<Workload> test, larger_test;
      for (const auto& one : drawn)
        if (one.kind == kind && one.split == learn::Split::test) test.push_back(one.workload);
      for (const auto& one : large)
        if (one.kind == kind) larger_test.push_back(one.workload);
      const std::string key = kind == GraphKind::mixed ? "mixed" : "memory_bound";
      measure(key, test, {});
      measure("larger_" + key, larger_test, {});
      measure(key + "_by_model", test, {.value = true});
    }
    note(beam_stage, json);
  }

  void train_grid() {
    Stage stage("decisions of grid problems are labelled");
    const oracle::GridTraining trained = oracle::train_grid_decisions(
        {.seed = config_.seed, .problems = bundle_.grid_problems, .progress = stage.teller()});
    ordered_json test = ranking_json(trained.test.metrics);
    test["states"] = trained.test.groups;
    test["first_regret"] = trained.test.first_regret;
    test["first_best"] = trained.test.first_best;
    test["random_regret"] = trained.test.random_regret;
    note("grid", {{"problems", trained.problems},
                  {"states", trained.states},
                  {"candidates", trained.candidates},
                  {"test", test}});
    learn::save_ranker(path(oracle::grid_decisions_file), trained.model);
  }

  void finish() {
    namespace fs = std::filesystem;
    for (const std::string_view stage : stages) {
      if (!fs::exists(stage_file(stage))) continue;
      metrics_[std::string(stage)] = ordered_json::parse(read_file(stage_file(stage)));
    }
    metrics_["decisions"]["beam"] = ordered_json::parse(read_file(stage_file(beam_stage)));
    const std::string program = "fuselage " FUSELAGE_VERSION;
    oracle::seal_bundle(work_,
                        {.program = program,
                         .seed = config_.seed,
                         .walk = true,
                         .grid = bundle_.grid_problems > 0,
                         .metrics = metrics_.dump()},
                        bundle_card(metrics_, program));
    take_place();
    // What the work needed belongs to no bundle. Last of all, so that it can be taken up until there is one.
    for (const std::string_view stage : stages) fs::remove(fmt::format("{}/{}", out_, stage_name(stage)));
    fs::remove(fmt::format("{}/{}", out_, stage_name(beam_stage)));
    fs::remove(fmt::format("{}/{}", out_, config_file));
    fs::remove(fmt::format("{}/{}", out_, checkpoint_file));
  }

  // There is a bundle at `out_` at any time, the old one or the new one, where the file system can exchange.
  void take_place() const {
    namespace fs = std::filesystem;
    if (!fs::exists(out_)) return fs::rename(work_, out_);
    if (::renameat2(AT_FDCWD, work_.c_str(), AT_FDCWD, out_.c_str(), RENAME_EXCHANGE) == 0) {
      fs::remove_all(work_);
      return;
    }
    // A file system that can't: for a moment there is only the old one, by another name.
    const std::string old = out_ + ".old";
    fs::rename(out_, old);
    fs::rename(work_, out_);
    fs::remove_all(old);
  }

  const TrainConfig& config_;
  const BundleConfig& bundle_;
  std::string out_;
  std::string work_;
  ordered_json metrics_;
};

}  // namespace

int train_bundle(const TrainConfig& config, const std::string& config_text, const std::string& out,
                 bool json) {
  std::string directory = out;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  const std::string last = std::filesystem::path(directory).filename().string();
  if (last.empty() || last == "." || last == "..")
    fail("--out: {} can't be renamed; expected the name of a directory, such as my-bundle", quote(out));
  BundleTrainer trainer(config, directory);
  trainer.begin(config_text);
  try {
    trainer.run();
  } catch (const Interrupted&) {
    print_note("interrupted; the same command goes on");
    return exit_negative;
  }
  if (json)
    write_stdout(dump({{"out", directory}, {"metrics", trainer.metrics()}}));
  else
    write_stdout(read_file(directory + "/README.md"));
  return exit_ok;
}

}  // namespace fuselage::cli

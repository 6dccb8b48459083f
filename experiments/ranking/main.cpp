#include <fmt/format.h>
#include <tbb/info.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "reports.h"

namespace {

using namespace fuselage::experiments;
using fuselage::learn::Split;
using fuselage::oracle::GraphKind;

struct Options {
  int graphs = 400;  // to train on; a sixth of them, at least 4, to judge by
  int machines = 20;
  int epochs = 0;  // 0: the experiment's own
  ContestOptions contest = {};
  Place place = {};

  int judged() const { return std::max(4, graphs * 3 / 20); }
};

struct Sets {
  std::vector<Drawn> train, held_out;
  Set train_set, held_out_set;
  nlohmann::ordered_json manifest;
};

Sets sets_of(GraphKind kind, const Options& options) {
  const std::string name(fuselage::oracle::name(kind));
  const Draw train{.name = name + ", training",
                   .graphs = {.kind = kind},
                   .count = options.graphs,
                   .split = Split::train,
                   .seed = 1};
  const Draw held_out{.name = name + ", held out",
                      .graphs = {.kind = kind},
                      .count = options.judged(),
                      .split = Split::test,
                      .seed = 2};
  Sets sets;
  sets.train = draw(train, options.contest.threads);
  sets.held_out = draw(held_out, options.contest.threads);
  sets.train_set = set_of(train.name, sets.train);
  sets.held_out_set = set_of(held_out.name, sets.held_out);
  sets.manifest = {describe(train, sets.train), describe(held_out, sets.held_out)};
  sets.train.clear();
  say(fmt::format("ranking: {} and {} {} graphs", options.graphs, options.judged(), name));
  return sets;
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {
    if (options.epochs == 0) return;
    options_.contest.recipe.epochs = options.epochs;
    options_.contest.recipe.effort = options.epochs / 36.0;
  }

  void mixed() {
    Sets sets = sets_of(GraphKind::mixed, options_);
    for (auto& one : sets.manifest) manifest_.push_back(one);
    const Draw draw_larger{.name = "mixed, larger",
                           .graphs = {.kind = GraphKind::mixed, .min_ops = 40, .max_ops = 60},
                           .count = options_.judged(),
                           .seed = 3};
    const std::vector<Drawn> drawn = draw(draw_larger, options_.contest.threads);
    manifest_.push_back(describe(draw_larger, drawn));
    const Set larger = set_of(draw_larger.name, drawn);
    const std::vector<Variant> changed = variants(sets.held_out, options_.contest.threads);
    const std::vector<OnMachine> machines = on_machines(sets.held_out);
    std::vector<const Set*> all = {&sets.held_out_set, &larger};
    for (const Variant& variant : changed) {
      all.push_back(&variant.before);
      all.push_back(&variant.after);
    }
    for (const OnMachine& one : machines) all.push_back(&one.set);
    const Contest result = contest(sets.train_set, all, options_.contest);
    stand(result, 0, sets.held_out_set);
    stand(result, 1, larger);
    finish("noise", noise_report(result, 2, changed));
    finish("transfer", transfer_report(result, 2 + 2 * changed.size(), machines));
  }

  // Costs hang on what is retained, which dense targets help to see.
  void memory_bound() {
    const Sets sets = sets_of(GraphKind::memory_bound, options_);
    for (const auto& one : sets.manifest) manifest_.push_back(one);
    ContestOptions contest_options = options_.contest;
    contest_options.recipe.increments = 1;
    contest_options.recipe.epochs = options_.epochs == 0 ? 24 : options_.epochs;
    const Contest result = contest(sets.train_set, {&sets.held_out_set}, contest_options);
    stand(result, 0, sets.held_out_set);
  }

  void rank() { finish("ranking", ranking_report(standings_)); }

 private:
  std::vector<OnMachine> on_machines(const std::vector<Drawn>& held_out) const {
    std::vector<Drawn> graphs(held_out.begin(),
                              held_out.begin() + std::min<std::ptrdiff_t>(20, std::ssize(held_out)));
    std::vector<OnMachine> machines;
    for (const MachineSpec& spec : unseen_machines(options_.machines, 4))
      machines.push_back({spec, set_of("", on_machine(spec, graphs, options_.contest.threads))});
    return machines;
  }
  void stand(const Contest& result, std::size_t number, const Set& set) {
    for (const Filter filter : {Filter::all, Filter::near_best})
      standings_.push_back(standing(result, number, set, filter));
  }
  void finish(const std::string& name, Report report) const {
    report.manifest["sets"] = manifest_;
    report.manifest["options"] = {
        {"seeds", options_.contest.seeds},
        {"epochs", options_.epochs == 0 ? "36 mixed, 24 memory-bound" : std::to_string(options_.epochs)},
        {"machines", options_.machines}};
    write(report, name, options_.place);
    std::fputs(text_of(report).c_str(), stdout);
    std::fflush(stdout);
  }

  Options options_;
  nlohmann::ordered_json manifest_ = nlohmann::ordered_json::array();
  std::vector<Standing> standings_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Rankers of schedules against each other, on graphs and machines that none has seen.",
               "fuselage_experiment_ranking");
  Options options;
  options.contest.threads = std::min(2, tbb::info::default_concurrency());
  app.add_option("--out", options.place.directory, "directory of the results; the last one counts")
      ->required()
      ->take_last();
  app.add_option("--graphs", options.graphs, "fewer graphs, for a trial")->check(CLI::Range(20, 100'000));
  app.add_option("--machines", options.machines, "of the transfer")->check(CLI::Range(1, 1000));
  app.add_option("--seeds", options.contest.seeds, "trainings of each ranker")->check(CLI::Range(1, 100));
  app.add_option("--epochs", options.epochs, "fewer epochs, for a trial; trees and steps go with them")
      ->check(CLI::Range(1, 1000));
  app.add_option("--only", options.contest.only, "these rankers (first names), for a trial");
  app.add_option("--threads", options.contest.threads, "models trained at once; the results are the same")
      ->check(CLI::Range(1, 256));
  app.add_option("--commit", options.place.commit, "of the source, for the manifests");
  CLI11_PARSE(app, argc, argv);
  try {
    Run run(options);
    run.mixed();
    run.memory_bound();
    run.rank();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuselage_experiment_ranking: %s\n", error.what());
    return 3;
  }
  return 0;
}

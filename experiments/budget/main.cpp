// How good a schedule after how many measurements, by what filters the proposals?

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "curves.h"
#include "fuselage/core/error.h"
#include "fuselage/core/files.h"
#include "fuselage/core/hash.h"
#include "fuselage/oracle/bundle.h"

namespace {

using namespace fuselage;
using namespace fuselage::experiments;

constexpr std::uint64_t train_seed = 1;
constexpr std::uint64_t test_seed = 4'000'000;
constexpr int schedules_a_graph = 48;

struct Options {
  std::string out, commit, model, memory_bound_model;
  Job job;
  int train_graphs = 400;
};

std::string model_file(const std::string& given) {
  const std::string path = given.empty() ? oracle::find_default_bundle() : given;
  if (path.empty())
    fail(
        "--model: there is no models/default; expected the path of a bundle, or of a file of 'fuselage "
        "train'");
  const auto inside = std::filesystem::path(path) / oracle::walk_schedules_file;
  return std::filesystem::is_directory(path) ? inside.string() : path;
}

// What is learned for one kind of graphs, and what the tuner makes of it.
Curves run(const Options& options, oracle::GraphKind kind, nlohmann::ordered_json& manifest) {
  const bool own = kind == oracle::GraphKind::memory_bound && !options.memory_bound_model.empty();
  const std::string file = model_file(own ? options.memory_bound_model : options.model);
  const learn::ScheduleModel model = learn::ScheduleModel::load(file, oracle::schedule_fingerprints());
  const Draw train = {.name = "train",
                      .graphs = {.kind = kind},
                      .count = options.train_graphs,
                      .split = learn::Split::train,
                      .schedules = schedules_a_graph,
                      .seed = train_seed};
  const std::vector<Drawn> drawn = draw(train, options.job.threads);
  const Learned learned = {.model = model, .bag = train_bag(set_of(train.name, drawn))};
  Job job = options.job;
  job.kind = oracle::name(kind);
  job.draw = test_seed;
  Curves curves = measure(job, learned);
  manifest["kinds"].push_back({{"kind", job.kind},
                               {"model_sha256", sha256_hex(read_file(file))},
                               {"bag", describe(train, drawn)},
                               {"graphs", job.graphs},
                               {"graphs_seed", job.draw},
                               {"seeds", job.seeds},
                               {"trials", job.trials},
                               {"proposals", job.proposals},
                               {"reference_trials", job.reference},
                               {"seconds", curves.seconds}});
  return curves;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Gap to the optimum by the number of measurements, for several filters.",
               "fuselage_experiment_budget");
  Options options;
  app.add_option("--out", options.out, "directory of the results; the last one counts")
      ->required()
      ->take_last();
  app.add_option("--commit", options.commit, "of the source, for the manifest");
  app.add_option("--model", options.model, "a bundle, or a file of 'fuselage train'; default models/default")
      ->take_last();
  app.add_option("--memory-bound-model", options.memory_bound_model, "another one for memory-bound graphs");
  app.add_option("--graphs", options.job.graphs, "of each kind, default 60")->check(CLI::PositiveNumber);
  app.add_option("--seeds", options.job.seeds, "of the tuner, default 3")->check(CLI::PositiveNumber);
  app.add_option("--trials", options.job.trials, "with a filter, default 256")
      ->check(CLI::Range(64, 100'000));
  app.add_option("--proposals", options.job.proposals, "for each trial with a filter, default 64")
      ->check(CLI::PositiveNumber);
  app.add_option("--reference", options.job.reference, "trials without a filter, default 10000")
      ->check(CLI::Range(64, 1'000'000));
  app.add_option("--train-graphs", options.train_graphs, "that the action bag learns from, default 400")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.job.threads, "default 1")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    nlohmann::ordered_json manifest;
    std::vector<Curves> all;
    for (const auto kind : {oracle::GraphKind::mixed, oracle::GraphKind::memory_bound})
      all.push_back(run(options, kind, manifest));
    Report report = report_of(all);
    report.manifest = manifest;
    write(report, "budget", {.directory = options.out, .commit = options.commit});
    std::fputs(text_of(report).c_str(), stdout);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuselage_experiment_budget: %s\n", error.what());
    return 3;
  }
  return 0;
}

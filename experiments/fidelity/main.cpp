#include <fmt/format.h>
#include <tbb/info.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <numeric>

#include "drawn.h"
#include "fidelity.h"
#include "recipe.h"
#include "report.h"

namespace {

using namespace fuselage::experiments;
using fuselage::learn::LatentSpread;
using fuselage::learn::Split;
using fuselage::learn::TransitionKind;
using fuselage::oracle::GraphKind;

constexpr std::array<std::size_t, 7> horizons = {1, 2, 4, 8, 16, 32, 50};

struct Options {
  int graphs = 300;  // to train on; a tenth of them, at least 4, to judge by
  int seeds = 3;
  double effort = 1;  // part of the steps
  int threads = 1;
  Place place = {};

  int judged() const { return std::max(4, graphs / 10); }
};

// One way of training, of several whose figures are compared.
struct Way {
  std::string name;
  WorldRecipe recipe;
};

std::vector<Way> ways() {
  const WorldRecipe full = published_recipe(0);
  std::vector<Way> all = {{"transh", full}, {"residual", full}, {"gru", full}};
  all[1].recipe.shape.transition = TransitionKind::residual;
  all[2].recipe.shape.transition = TransitionKind::gru;
  Way matching{"transh, matching alone", full};
  matching.recipe.training.losses = {.matching = {.hold_targets = false}, .contrast = {.weight = 0}};
  all.push_back(matching);
  Way heavier{"transh, matching weighs 1", full};
  heavier.recipe.training.losses.matching.weight = 1;
  all.push_back(heavier);
  Way without_margin{"transh, no margin", full};
  without_margin.recipe.training.losses.margin.weight = 0;
  all.push_back(without_margin);
  Way without_contrast{"transh, no contrast", full};
  without_contrast.recipe.training.losses.contrast.weight = 0;
  all.push_back(without_contrast);
  Way anywhere{"transh, batches from anywhere", full};
  anywhere.recipe.training.workloads = 0;
  all.push_back(anywhere);
  Way few{"transh, batches of 4 graphs", full};
  few.recipe.training.workloads = 4;
  all.push_back(few);
  Way short_rollouts{"transh, rollouts of 4", full};
  short_rollouts.recipe.training.horizon = 4;
  all.push_back(short_rollouts);
  return all;
}

struct Result {
  std::vector<AtHorizon> at = {};  // by horizon
  LatentSpread spread = {};
};

Result train_and_measure(const Way& way, const Options& options, std::uint64_t seed, const Set& train,
                         const Set& judged) {
  WorldRecipe recipe = way.recipe;
  recipe.training.seed = seed;
  recipe.training.steps =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(recipe.training.steps) * options.effort));
  const fuselage::learn::WorldModel model = train_world(train.sequences, recipe);
  Result result{.spread = spread_of(model, judged.sequences)};
  for (const std::size_t tokens : horizons) result.at.push_back(fidelity(model, judged.sequences, tokens));
  return result;
}

template <class Read>
double mean_of(const std::vector<Result>& seeds, Read read) {
  double sum = 0;
  for (const Result& result : seeds) sum += read(result);
  return sum / static_cast<double>(seeds.size());
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options) {}

  void kind(GraphKind kind) {
    const std::string name(fuselage::oracle::name(kind));
    const Draw draw_train{.name = name + ", training",
                          .graphs = {.kind = kind, .min_ops = 16, .max_ops = 60},
                          .count = options_.graphs,
                          .split = Split::train,
                          .seed = 1};
    // About half of the schedules end a kernel at a given token.
    const Draw draw_judged{.name = name + ", held out",
                           .graphs = {.kind = kind, .min_ops = 52, .max_ops = 64},
                           .count = options_.judged(),
                           .split = Split::test,
                           .schedules = 250,
                           .seed = 3};  // 2 is what the recipe was chosen on
    const std::vector<Drawn> train = draw(draw_train, options_.threads);
    const std::vector<Drawn> judged = draw(draw_judged, options_.threads);
    manifest_.push_back(describe(draw_train, train));
    manifest_.push_back(describe(draw_judged, judged));
    measure(name, set_of(draw_train.name, train), set_of(draw_judged.name, judged));
  }

  void finish() {
    report_.manifest["sets"] = manifest_;
    report_.manifest["options"] = {{"seeds", options_.seeds}, {"effort", options_.effort}};
    report_.summary.insert(report_.summary.begin(), {"Bars", bars_});
    write(report_, "fidelity", options_.place);
    std::fputs(text_of(report_).c_str(), stdout);
  }

 private:
  void measure(const std::string& kind, const Set& train, const Set& judged) {
    const std::vector<Way> all = ways();
    const auto seeds = static_cast<std::size_t>(options_.seeds);
    std::vector<std::vector<Result>> results(all.size(), std::vector<Result>(seeds));
    in_parallel(options_.threads, all.size() * seeds, [&](std::size_t i) {
      results[i / seeds][i % seeds] = train_and_measure(all[i / seeds], options_, i % seeds, train, judged);
      say(fmt::format("fidelity: {}, {}, seed {}", kind, all[i / seeds].name, i % seeds));
    });
    Table retrieval(columns("retrieval@1"));
    Table error(columns("error"));
    for (std::size_t w = 0; w < all.size(); ++w) {
      retrieval.add(line(all[w].name, results[w], [](const AtHorizon& at) { return at.retrieval; }));
      error.add(line(all[w].name, results[w], [](const AtHorizon& at) { return at.error; }));
      add_rows(kind, all[w].name, results[w]);
    }
    retrieval.add(
        line("guessing the commonest state", results[0], [](const AtHorizon& at) { return at.commonest; }));
    report_.summary.push_back({kind + ": how often the own state is nearest, by tokens rolled", retrieval});
    report_.summary.push_back({kind + ": distance to it, in spreads of all encoded states", error});
    report_.summary.push_back({kind + ": who is judged, by tokens", population(results[0][0])});
    report_.summary.push_back({kind + ": latents of states", spreads(all, results)});
    if (kind == "mixed") bars(results[0]);
  }

  static std::vector<std::string> columns(const std::string& first) {
    std::vector<std::string> names = {first};
    for (const std::size_t tokens : horizons) names.push_back(std::to_string(tokens));
    return names;
  }

  template <class Read>
  static std::vector<std::string> line(const std::string& name, const std::vector<Result>& seeds, Read read) {
    std::vector<std::string> cells = {name};
    for (std::size_t h = 0; h < horizons.size(); ++h)
      cells.push_back(fixed(mean_of(seeds, [&](const Result& result) { return read(result.at[h]); }), 3));
    return cells;
  }

  static Table population(const Result& result) {
    Table table({"tokens", "graphs", "schedules of a graph", "states that differ", "in the commonest state"});
    for (const AtHorizon& at : result.at)
      table.add({std::to_string(at.tokens), std::to_string(at.graphs), fixed(at.schedules, 1),
                 fixed(at.states, 1), fixed(at.commonest, 3)});
    return table;
  }

  static Table spreads(const std::vector<Way>& all, const std::vector<std::vector<Result>>& results) {
    Table table({"trained", "deviation of a dimension, mean", "effective rank, of 64"});
    for (std::size_t w = 0; w < all.size(); ++w)
      table.add({all[w].name,
                 fixed(mean_of(results[w], [](const Result& r) { return r.spread.mean_deviation; }), 4),
                 fixed(mean_of(results[w], [](const Result& r) { return r.spread.effective_rank; }), 1)});
    return table;
  }

  void add_rows(const std::string& kind, const std::string& way, const std::vector<Result>& seeds) {
    for (std::size_t seed = 0; seed < seeds.size(); ++seed)
      for (const AtHorizon& at : seeds[seed].at)
        report_.rows.add(
            {kind, way, std::to_string(seed), std::to_string(at.tokens), std::to_string(at.graphs),
             fixed(at.schedules, 1), fixed(at.states, 1), fixed(at.commonest, 4), fixed(at.retrieval, 4),
             fixed(at.each_once, 4), fixed(at.error, 4), fixed(at.error_at_once, 4),
             fixed(seeds[seed].spread.mean_deviation, 4), fixed(seeds[seed].spread.effective_rank, 2)});
  }

  void bars(const std::vector<Result>& transh) {
    const double found = mean_of(transh, [](const Result& r) { return r.at[5].retrieval; });
    const double rank = mean_of(transh, [](const Result& r) { return r.spread.effective_rank; });
    bars_.add({"transh, mixed: retrieval@1 at 32 tokens", ">= 0.75", fixed(found, 3), yes_no(found >= 0.75)});
    bars_.add({"transh, mixed: effective rank", ">= 16", fixed(rank, 1), yes_no(rank >= 16)});
  }

  Options options_;
  nlohmann::ordered_json manifest_ = nlohmann::ordered_json::array();
  Table bars_ = Table({"figure", "bar", "measured", "met"});
  Report report_ = {.rows = Table({"graphs", "trained", "seed", "tokens", "graphs_judged", "schedules",
                                   "states", "commonest", "retrieval", "retrieval_each_state_once", "error",
                                   "error_in_spreads_at_once", "deviation", "effective_rank"}),
                    .summary = {}};
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How faithful the latents of a world model are, by how far they are rolled.",
               "fuselage_experiment_fidelity");
  Options options;
  options.threads = std::min(2, tbb::info::default_concurrency());
  app.add_option("--out", options.place.directory, "directory of the results; the last one counts")
      ->required()
      ->take_last();
  app.add_option("--graphs", options.graphs, "fewer graphs, for a trial")->check(CLI::Range(10, 100'000));
  app.add_option("--seeds", options.seeds, "trainings of each model")->check(CLI::Range(1, 100));
  app.add_option("--effort", options.effort, "part of the steps, for a trial")->check(CLI::Range(0.0, 10.0));
  app.add_option("--threads", options.threads, "models trained at once; the results are the same")
      ->check(CLI::Range(1, 256));
  app.add_option("--commit", options.place.commit, "of the source, for the manifests");
  CLI11_PARSE(app, argc, argv);
  try {
    Run run(options);
    run.kind(GraphKind::mixed);
    run.kind(GraphKind::memory_bound);
    run.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuselage_experiment_fidelity: %s\n", error.what());
    return 3;
  }
  return 0;
}

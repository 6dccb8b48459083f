#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "fuselage/oracle/bundle.h"
#include "grid.h"
#include "walk.h"

namespace {

using namespace fuselage;
using namespace fuselage::experiments;

struct Options {
  std::vector<std::string> names = {"walk", "grid"};
  std::string bundle = {};
  std::optional<int> graphs;
  std::string out;
  std::string commit;
};

void leave(Report report, std::string_view name, const oracle::Bundle& bundle, const Options& options) {
  for (const oracle::BundleFile& file : bundle.manifest.files)
    report.manifest["bundle"][file.name] = file.sha256;
  write(report, name, {.directory = options.out, .commit = options.commit});
  std::fputs(text_of(report).c_str(), stdout);
  std::fflush(stdout);
}

void run_walk(const oracle::Bundle& bundle, const Options& options) {
  WalkSetting setting{.models = bundle.walk};
  if (options.graphs) setting.graphs = *options.graphs;
  leave(experiments::walk(setting), "walk", bundle, options);
}

void run(const Options& options) {
  const oracle::Bundle bundle =
      oracle::read_bundle(options.bundle.empty() ? oracle::find_default_bundle() : options.bundle);
  const auto wanted = [&](const char* name) {
    return std::find(options.names.begin(), options.names.end(), name) != options.names.end();
  };
  if (wanted("walk")) run_walk(bundle, options);
  if (!wanted("grid")) return;
  if (!bundle.grid) fail("{}: has no models of the grid family", bundle.path);
  GridSetting setting{.ranker = bundle.grid};
  if (options.graphs) setting.problems = *options.graphs;
  leave(experiments::grid(setting), "grid", bundle, options);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What learned guides save and lose in searches.", "fuselage_experiment guides");
  Options options;
  app.add_option("name", options.names, "walk, grid or both")->check(CLI::IsMember({"walk", "grid"}));
  app.add_option("--bundle", options.bundle, "whose models; default models/default");
  app.add_option("--graphs", options.graphs, "fewer graphs, for a trial")->check(CLI::PositiveNumber);
  app.add_option("--out", options.out, "directory of the results; the last one counts")
      ->required()
      ->take_last();
  app.add_option("--commit", options.commit, "of the source, for the manifests");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuselage_experiment guides: %s\n", error.what());
    return 3;
  }
  return 0;
}

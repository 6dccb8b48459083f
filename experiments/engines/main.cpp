#include <tbb/info.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "experiment.h"

namespace {

using namespace fuselage::experiments;

struct Experiment {
  std::string_view name;
  Report (*run)(const Setting&);
};

constexpr std::array<Experiment, 6> experiments = {
    Experiment{"quality", quality}, {"bounds", bounds},   {"order", order},
    {"scaling", scaling},           {"anytime", anytime}, {"threads", threads}};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments) names.emplace_back(experiment.name);
  return names;
}

void run(const std::vector<std::string>& names, const Setting& setting, const std::string& out) {
  for (const Experiment& experiment : experiments) {
    if (std::find(names.begin(), names.end(), experiment.name) == names.end()) continue;
    const Report report = experiment.run(setting);
    write(report, experiment.name, {.directory = out, .commit = setting.commit});
    std::fputs(text_of(report).c_str(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The engines on many graphs: how good, how fast, how large.", "fuselage_experiment");
  std::vector<std::string> names = all_names();
  Setting setting = {.graphs = {}, .seconds = {}, .threads = tbb::info::default_concurrency(), .commit = {}};
  std::string out;
  app.add_option("name", names, "which experiments; all if none is named")->check(CLI::IsMember(all_names()));
  app.add_option("--out", out, "directory of the results; the last one counts")->required()->take_last();
  app.add_option("--graphs", setting.graphs, "fewer graphs, for a trial")->check(CLI::PositiveNumber);
  app.add_option("--seconds", setting.seconds, "limit of one search")->check(CLI::PositiveNumber);
  app.add_option("--threads", setting.threads, "of order, scaling and anytime; default: one for each core")
      ->check(CLI::PositiveNumber);
  app.add_option("--commit", setting.commit, "of the source, for the manifests");
  CLI11_PARSE(app, argc, argv);
  try {
    run(names, setting, out);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuselage_experiment: %s\n", error.what());
    return 3;
  }
  return 0;
}

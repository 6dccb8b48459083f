// Arguments that are no options are files of grid problems; without any, the contest's largest one is
// measured where it lies beside the checkout.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fuselage/core/error.h"
#include "grid_cost_bench.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> files(argv + 1, argv + argc);
  for (const std::string& file : files)
    if (file.starts_with("--") && benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const std::string usual = FUSELAGE_SOURCE_DIR "/../shared/benchmarks/mlsys-2026/mlsys-2026-17.json";
  if (files.empty() && std::filesystem::exists(usual)) files = {usual};
  try {
    register_grid_cost(files);
  } catch (const fuselage::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

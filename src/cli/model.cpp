#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.h"
#include "fuselage/core/error.h"
#include "fuselage/oracle/bundle.h"
#include "options.h"
#include "report_cells.h"
#include "table.h"
#include "terminal.h"
#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* footer =
    R"(DIR is a bundle, as 'fuselage train' makes it of a configuration with "bundle".

  show    what is in it: models, sizes, features, and what was measured when it was trained
  verify  that its files are those that were sealed (size and SHA-256), that its models read, and that the
          features they were trained on are this program's

Exit code: 0; 1 if verify found something wrong; 2 if DIR is no bundle.

Examples:
  fuselage model show models/default
  fuselage model verify models/default
  fuselage model show models/default --json | jq .metrics.decisions.beam.mixed)";

struct ModelCommand {
  std::string bundle;
  bool json = false;
};

bool is_estimate(const ordered_json& metrics) {
  constexpr std::array names = {"value", "low", "high"};
  return metrics.is_object() && metrics.size() == names.size() &&
         std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return metrics.contains(name) && metrics[name].is_number(); });
}

// Estimates as one cell, numbers as they are; names joined by dots.
void add_metrics(const ordered_json& metrics, const std::string& name, Table& table) {
  if (is_estimate(metrics)) {
    table.add({name, fmt::format("{:.4f}", metrics["value"].get<double>()),
               fmt::format("[{:.4f}, {:.4f}]", metrics["low"].get<double>(), metrics["high"].get<double>())});
    return;
  }
  if (metrics.is_object()) {
    for (const auto& [key, value] : metrics.items())
      add_metrics(value, name.empty() ? key : name + "." + key, table);
    return;
  }
  if (metrics.is_number_integer())
    table.add({name, grouped(metrics.get<std::int64_t>()), ""});
  else if (metrics.is_number())
    table.add({name, fmt::format("{:.4f}", metrics.get<double>()), ""});
}

std::string show_text(const ModelCommand& command, const oracle::BundleManifest& manifest) {
  std::uint64_t bytes = 0;
  Table files({{"file", Align::left}, {"bytes"}, {"SHA-256", Align::left}});
  for (const oracle::BundleFile& file : manifest.files) {
    files.add({file.name, grouped(file.bytes), file.sha256.substr(0, 16)});
    bytes += file.bytes;
  }
  Table metrics({{"measured", Align::left}, {"value"}, {"95 % interval", Align::left}});
  add_metrics(ordered_json::parse(manifest.metrics), "", metrics);
  return fmt::format("{}: made by {}, seed {}; families: {}{}{}; {} bytes\n\n{}\n{}", command.bundle,
                     manifest.program, manifest.seed, manifest.walk ? "walk" : "",
                     manifest.walk && manifest.grid ? ", " : "", manifest.grid ? "grid" : "", grouped(bytes),
                     files.text(), metrics.text());
}

ordered_json show_json(const ModelCommand& command, const oracle::BundleManifest& manifest) {
  ordered_json json = {{"bundle", command.bundle}, {"program", manifest.program},
                       {"seed", manifest.seed},    {"walk", manifest.walk},
                       {"grid", manifest.grid},    {"files", ordered_json::array()}};
  for (const oracle::BundleFile& file : manifest.files)
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  json["metrics"] = ordered_json::parse(manifest.metrics);
  return json;
}

int show(const ModelCommand& command) {
  const oracle::BundleManifest manifest = oracle::read_bundle_manifest(command.bundle);
  write_stdout(command.json ? dump(show_json(command, manifest)) : show_text(command, manifest));
  return exit_ok;
}

int verify(const ModelCommand& command) {
  const std::vector<std::string> faults = oracle::verify_bundle(command.bundle);
  if (command.json) {
    write_stdout(dump({{"bundle", command.bundle}, {"fits", faults.empty()}, {"faults", faults}}));
  } else {
    for (const std::string& fault : faults) write_stdout(fault + "\n");
    write_stdout(
        faults.empty()
            ? fmt::format("{}: {} files as sealed, and this program's features\n", command.bundle,
                          oracle::read_bundle_manifest(command.bundle).files.size())
            : fmt::format("{}: {} fault{}\n", command.bundle, faults.size(), faults.size() == 1 ? "" : "s"));
  }
  return faults.empty() ? exit_ok : exit_negative;
}

}  // namespace

void add_model(CLI::App& app, int& exit_code) {
  CLI::App& command = *app.add_subcommand("model", "Show or verify a bundle of learned models");
  command.footer(footer);
  command.require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& about, int (*run)(const ModelCommand&)) {
    CLI::App& sub = *command.add_subcommand(name, about);
    auto options = std::make_shared<ModelCommand>();
    add_argument(sub, "DIR", "the bundle", options->bundle)->required();
    sub.add_flag("--json", options->json, "one JSON document");
    sub.callback([options, run, &exit_code] { exit_code = run(*options); });
  };
  add("show", "What is in a bundle, and what it is worth", show);
  add("verify", "Are its files whole, and its models for this program?", verify);
}

}  // namespace fuselage::cli

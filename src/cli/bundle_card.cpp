#include "bundle_card.h"

#include <fmt/format.h>

#include "units.h"

namespace fuselage::cli {
namespace {

using nlohmann::ordered_json;

std::string interval(const ordered_json& estimate, double scale, int decimals) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", scale * estimate["value"].get<double>(), decimals,
                     scale * estimate["low"].get<double>(), decimals, scale * estimate["high"].get<double>(),
                     decimals);
}

std::string ranking_row(const std::string& name, const ordered_json& figures) {
  if (figures["graphs"].get<int>() == 0) return fmt::format("| {} | 0 | - | - | - | - |\n", name);
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, figures["graphs"].get<int>(),
                     interval(figures["pairwise"], 1, 4), interval(figures["tau"], 1, 4),
                     interval(figures["top_1"], 1, 4), interval(figures["regret"], 100, 2));
}

std::string schedules_text(const ordered_json& metrics) {
  std::string text = fmt::format(
      "## Ranking whole schedules (`walk/schedules.safetensors`)\n\n"
      "A GRU that reads one token an op, trained end to end by ranking schedules of one graph and by what "
      "each\n"
      "token costs: {} schedules of {} graphs, {} epochs. On graphs that it has not seen:\n\n"
      "| graphs | number | pairwise | tau | top-1 | top-1 regret % |\n|---|---|---|---|---|---|\n",
      grouped(std::int64_t{metrics["train_schedules"].get<int>()}), metrics["train_graphs"].get<int>(),
      metrics["epochs"].get<int>());
  text += ranking_row("mixed", metrics["mixed"]);
  text += ranking_row("mixed, larger", metrics["larger_mixed"]);
  text += ranking_row("memory-bound", metrics["memory_bound"]);
  return text + ranking_row("memory-bound, larger", metrics["larger_memory_bound"]);
}

std::string beam_row(const std::string& name, const ordered_json& figures) {
  return fmt::format("| {} | {} | {} | {:.0f} | {} | {:.0f} | {:.1f} |\n", name, figures["graphs"].get<int>(),
                     interval(figures["gap"], 100, 3), figures["steps"].get<double>(),
                     interval(figures["unguided_gap"], 100, 3), figures["unguided_steps"].get<double>(),
                     100 * figures["share_of_steps"].get<double>());
}

std::string decisions_text(const ordered_json& metrics) {
  std::string text = fmt::format(
      "\n## Ranking the next kernel (`walk/decisions.json`)\n\n"
      "Boosted trees on the features of state, kernel and the state after it; levels of relevance from "
      "exact\n"
      "regret, {} kernels of {} states. A beam of width 8 that prices the best 4 of each state, against the\n"
      "same beam that prices all; steps are kernels priced, gaps are to the proven optimum:\n\n"
      "| graphs | number | gap % | steps | unguided gap % | unguided steps | % of steps |\n"
      "|---|---|---|---|---|---|---|\n",
      grouped(std::int64_t{metrics["candidates"].get<int>()}),
      grouped(std::int64_t{metrics["states"].get<int>()}));
  const ordered_json& beam = metrics["beam"];
  text += beam_row("mixed", beam["mixed"]);
  text += beam_row("mixed, larger", beam["larger_mixed"]);
  text += beam_row("memory-bound", beam["memory_bound"]);
  text += beam_row("memory-bound, larger", beam["larger_memory_bound"]);
  text += fmt::format(
      "\n## What completing a schedule costs (`walk/value.safetensors`)\n\n"
      "An MLP on latent and state that answers by how much the proven bound falls short. Its mean error on "
      "the\n"
      "states that it was trained on is {:.3f} ops (mean cycles of one alone), that of a constant {:.3f}. "
      "The\n"
      "bounds of this family are so tight that the head helps only where few states are kept; it is used "
      "with\n"
      "`--rank-by model`:\n\n"
      "| graphs | number | gap % | steps | unguided gap % | unguided steps | % of steps |\n"
      "|---|---|---|---|---|---|---|\n",
      metrics["value_error"].get<double>(), metrics["value_spread"].get<double>());
  text += beam_row("mixed", beam["mixed_by_model"]);
  return text + beam_row("memory-bound", beam["memory_bound_by_model"]);
}

std::string grid_text(const ordered_json& metrics) {
  const ordered_json& test = metrics["test"];
  return fmt::format(
      "\n## Ranking the next kernel of grid problems (`grid/decisions.json`)\n\n"
      "Boosted trees; levels of relevance from the best completions that searches found: {} kernels of {} "
      "states\n"
      "of {} generated problems. On {} states of problems that it has not seen: pairwise {}, NDCG@5 {}; its\n"
      "first choice is a best one in {:.1f} % of the states and loses {:.3f} ops on average, a random one "
      "{:.3f}.\n",
      grouped(std::int64_t{metrics["candidates"].get<int>()}),
      grouped(std::int64_t{metrics["states"].get<int>()}), metrics["problems"].get<int>(),
      test["states"].get<int>(), interval(test["pairwise"], 1, 4), interval(test["ndcg_5"], 1, 4),
      100 * test["first_best"].get<double>(), test["first_regret"].get<double>(),
      test["random_regret"].get<double>());
}

}  // namespace

std::string bundle_card(const ordered_json& metrics, const std::string& program) {
  std::string text = fmt::format(
      "# Learned guides of search\n\n"
      "Made by `{} train` from a seed alone; `bundle.json` has the figures in full and a hash of every "
      "file,\n"
      "`schema.json` what the models are asked about. Means with 95 % bootstrap intervals over graphs.\n\n"
      "- Use: `fuselage search … --guide DIR --keep 4`, `fuselage tune … --model DIR`.\n"
      "- Data: generated graphs, mixed topologies and memory-bound chains, four machines, rules "
      "`seed-honest`,\n"
      "  fixed order. Graphs are split by a hash of what they compute: none is in training and in test.\n"
      "- Limits: other rules are refused; other machines and larger graphs cost accuracy. Pricing a kernel "
      "here\n"
      "  takes less time than asking a model about it, so a guide saves evaluations, not time, unless an\n"
      "  evaluation is a measurement. Nothing that is proven rests on a model.\n\n",
      program);
  text += schedules_text(metrics["schedules"]);
  text += decisions_text(metrics["decisions"]);
  if (metrics.contains("grid")) text += grid_text(metrics["grid"]);
  return text;
}

}  // namespace fuselage::cli

#include "search_store.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fuselage/core/error.h"
#include "store_option.h"
#include "terminal.h"

namespace fuselage::cli {
namespace {

std::string budget_text(const oracle::SolveOptions& options) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  const Budget& budget = options.budget;
  if (budget.steps < std::numeric_limits<std::uint64_t>::max()) add("steps", budget.steps);
  if (std::isfinite(budget.wall_seconds)) add("time", budget.wall_seconds);
  if (options.engine == oracle::Engine::beam) add("width", options.width);
  if (options.seed != 0) add("seed", options.seed);
  return text;
}

}  // namespace

SearchStore::SearchStore(const std::string& file, bool used) {
  if (!used) return;
  try {
    store_.emplace(store_path(file));
  } catch (const Error& error) {
    if (!file.empty()) throw;
    print_note(fmt::format("the best-known store is not used: {}", error.what()));
  }
}

std::optional<double> SearchStore::known(const std::string& key) {
  if (!store_) return std::nullopt;
  try {
    if (const auto record = store_->find(key)) return record->cost;
  } catch (const Error& error) {
    print_note(error.what());
  }
  return std::nullopt;
}

void SearchStore::offer(const std::string& name, const std::function<oracle::Record()>& record) {
  if (!store_) return;
  try {
    store_->offer(record());
  } catch (const Error& error) {
    print_note(fmt::format("{}: not added to the best-known store: {}", name, error.what()));
  }
}

oracle::Origin origin_of(const std::string& engine, const oracle::SolveOptions& options) {
  return {.engine = engine,
          .budget = budget_text(options),
          .version = FUSELAGE_VERSION,
          .time = oracle::utc_now()};
}

}  // namespace fuselage::cli

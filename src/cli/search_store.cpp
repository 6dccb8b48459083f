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

void note_unused(std::string_view why) {
  print_note(fmt::format(
      "the best-known store is not used: {}; the search goes on without it (--no-store: without asking it)",
      why));
}

}  // namespace

SearchStore::SearchStore(const std::string& file, bool used) : named_(!file.empty()) {
  if (!used) return;
  try {
    path_ = store_path(file);
  } catch (const Error& error) {
    note_unused(error.what());
    return;
  }
  open();
}

void SearchStore::open() {
  try {
    store_.emplace(path_, oracle::Access::write, passing_patience());
  } catch (const oracle::StoreError& error) {
    recover(error);
  }
}

void SearchStore::with_store(const std::function<void(oracle::Store&)>& action) {
  while (store_) {
    try {
      return action(*store_);
    } catch (const oracle::StoreError& error) {
      recover(error);
    }
  }
}

void SearchStore::recover(const oracle::StoreError& trouble) {
  store_.reset();
  if (named_ && trouble.trouble() == oracle::StoreTrouble::misplaced) throw trouble;
  if (trouble.trouble() != oracle::StoreTrouble::damaged || ++damages_ > 2)
    return note_unused(trouble.what());
  if (damages_ == 2) {
    try {
      const std::string aside = oracle::set_store_aside(path_);
      print_note(fmt::format(
          "the best-known store: {}; it is kept as {}, and a new one begins (--no-store: search without one)",
          trouble.what(), aside));
    } catch (const Error& error) {
      return note_unused(fmt::format("{}; {}", trouble.what(), error.what()));
    }
  }
  open();
}

std::optional<double> SearchStore::known(const std::string& key) {
  std::optional<double> cost;
  with_store([&](oracle::Store& store) {
    try {
      if (const auto record = store.find(key)) cost = record->cost;
    } catch (const oracle::StoreError&) {
      throw;
    } catch (const Error& error) {
      print_note(
          fmt::format("{}; it counts for nothing, and is replaced by what is found now", error.what()));
    }
  });
  return cost;
}

void SearchStore::offer(const std::string& name, const std::function<oracle::Record()>& record) {
  with_store([&](oracle::Store& store) {
    if (!improvable_) return;
    try {
      store.offer(record());
    } catch (const oracle::StoreError& error) {
      if (error.trouble() != oracle::StoreTrouble::unusable) throw;
      improvable_ = false;
      print_note(
          fmt::format("the best-known store is not improved: {}; the search goes on (--no-store: without it)",
                      error.what()));
    } catch (const Error& error) {
      print_note(fmt::format("{}: not added to the best-known store: {}", name, error.what()));
    }
  });
}

oracle::Origin origin_of(const std::string& engine, const oracle::SolveOptions& options) {
  return {.engine = engine,
          .budget = budget_text(options),
          .version = FUSELAGE_VERSION,
          .time = oracle::utc_now()};
}

}  // namespace fuselage::cli

#include "fuselage/learn/bag.h"

#include <algorithm>

#include "fuselage/core/error.h"

namespace fuselage::learn {
namespace {

// Calls `make` for every schedule and adds what it leaves in `rows` and `increments`.
template <class Make>
Schedules remade(const Schedules& set, Index features, Make make) {
  Schedules out{.features = features, .facts = set.facts};
  const auto facts = static_cast<std::size_t>(set.facts);
  std::vector<float> rows;
  std::vector<float> increments;
  for (std::size_t g = 0; g < set.groups(); ++g) {
    out.begin_group(std::span(set.workloads).subspan(g * facts, facts));
    for (std::size_t i = set.first_schedule[g]; i < set.first_schedule[g + 1]; ++i) {
      rows.clear();
      increments.clear();
      make(i, rows, increments);
      out.add(rows, increments, set.costs[i]);
    }
  }
  return out;
}

std::span<const float> token(const Schedules& set, std::size_t t) {
  const auto width = static_cast<std::size_t>(set.features);
  return std::span(set.tokens).subspan(t * width, width);
}

}  // namespace

std::vector<std::size_t> columns_of(const Schema& schema, std::span<const std::string> names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) columns.push_back(schema.index(name));
  return columns;
}

Schedules bags_of(const Schedules& set, std::span<const std::size_t> columns) {
  for (const std::size_t column : columns)
    if (column >= static_cast<std::size_t>(set.features))
      fail("column {} of tokens with {} features; expected less", column, set.features);
  const auto add_bag = [&](std::size_t i, std::vector<float>& row, std::vector<float>& increments) {
    const std::size_t first = set.first_token[i];
    const std::size_t last = set.first_token[i + 1];
    std::vector<double> sums(columns.size(), 0);
    std::vector<float> most(columns.size(), 0);
    double total = 0;
    for (std::size_t t = first; t < last; ++t) {
      const auto facts = token(set, t);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        sums[c] += facts[columns[c]];
        most[c] = t == first ? facts[columns[c]] : std::max(most[c], facts[columns[c]]);
      }
      total += set.increments[t];
    }
    const double count = std::max<double>(1, static_cast<double>(last - first));
    for (const double sum : sums) row.push_back(static_cast<float>(sum));
    for (const double sum : sums) row.push_back(static_cast<float>(sum / count));
    row.insert(row.end(), most.begin(), most.end());
    increments.push_back(static_cast<float>(total));
  };
  return remade(set, static_cast<Index>(3 * columns.size()), add_bag);
}

Schedules windows_of(const Schedules& set, std::size_t width) {
  if (width == 0) fail("windows of 0 tokens; expected 1 or more");
  const auto features = static_cast<std::size_t>(set.features);
  const auto add_windows = [&](std::size_t i, std::vector<float>& rows, std::vector<float>& increments) {
    for (std::size_t t = set.first_token[i]; t < set.first_token[i + 1]; ++t) {
      const std::size_t had = std::min(width, t - set.first_token[i] + 1);
      rows.resize(rows.size() + (width - had) * features, 0);
      for (std::size_t back = had; back-- > 0;) {
        const auto facts = token(set, t - back);
        rows.insert(rows.end(), facts.begin(), facts.end());
      }
      increments.push_back(set.increments[t]);
    }
  };
  return remade(set, static_cast<Index>(width * features), add_windows);
}

std::vector<float> rows_of(const Schedules& bags) {
  const auto facts = static_cast<std::size_t>(bags.facts);
  std::vector<float> rows;
  for (std::size_t g = 0; g < bags.groups(); ++g)
    for (std::size_t i = bags.first_schedule[g]; i < bags.first_schedule[g + 1]; ++i) {
      if (bags.first_token[i + 1] != bags.first_token[i] + 1)
        fail("schedule {} has {} tokens; expected the one of a bag", i,
             bags.first_token[i + 1] - bags.first_token[i]);
      const auto bag = token(bags, bags.first_token[i]);
      rows.insert(rows.end(), bag.begin(), bag.end());
      const auto workload = std::span(bags.workloads).subspan(g * facts, facts);
      rows.insert(rows.end(), workload.begin(), workload.end());
    }
  return rows;
}

}  // namespace fuselage::learn

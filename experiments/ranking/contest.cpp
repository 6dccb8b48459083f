#include "contest.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage::experiments {

using learn::RankMetric;

Contest contest(const Set& train, const std::vector<const Set*>& sets, const ContestOptions& options) {
  Contest result;
  result.scores.resize(sets.size());
  struct Job {
    const Ranker* ranker;
    int seed;
    std::vector<std::vector<std::vector<float>>> scores;  // by name, by set
  };
  std::vector<Ranker> all = rankers();
  if (!options.only.empty())
    std::erase_if(all, [&](const Ranker& ranker) {
      return std::find(options.only.begin(), options.only.end(), ranker.names[0]) == options.only.end();
    });
  std::vector<Job> jobs;
  for (const Ranker& ranker : all) {
    result.names.insert(result.names.end(), ranker.names.begin(), ranker.names.end());
    for (int seed = 0; seed < options.seeds; ++seed) jobs.push_back({&ranker, seed, {}});
  }
  // The last ones take longest.
  in_parallel(options.threads, jobs.size(), [&](std::size_t i) {
    Job& job = jobs[jobs.size() - 1 - i];
    Recipe recipe = options.recipe;
    recipe.seed = static_cast<std::uint64_t>(job.seed);
    for (const Trained& trained : job.ranker->train(train, recipe)) {
      auto& scores = job.scores.emplace_back();
      for (const Set* set : sets) scores.push_back(trained.scores(*set));
    }
    say(fmt::format("ranking: {}, {}, seed {}", train.name, job.ranker->names[0], job.seed));
  });
  for (Job& job : jobs)
    for (std::size_t k = 0; k < job.scores.size(); ++k)
      for (std::size_t s = 0; s < sets.size(); ++s)
        result.scores[s][job.ranker->names[k]].push_back(std::move(job.scores[k][s]));
  return result;
}

Standing standing(const Contest& contest, std::size_t set_number, const Set& set, Filter filter) {
  Standing all{.set = set.name, .filter = filter, .names = contest.names};
  for (const std::string& name : contest.names) {
    all.judged[name] = judge(set.schedules, contest.scores[set_number].at(name), filter);
    all.graphs = all.judged[name].groups.size();
  }
  return all;
}

Titled table_of(const Standing& standing) {
  Table table({"ranker", "pairwise", "seeds apart", "tau", "top-1", "top-5", "regret %", "NDCG@5"});
  for (const std::string& name : standing.names) {
    const Judged& judged = standing.of(name);
    const auto at = [&](RankMetric metric) { return judged.mean[static_cast<std::size_t>(metric)]; };
    learn::Estimate regret = at(RankMetric::regret);
    regret = {.value = 100 * regret.value, .low = 100 * regret.low, .high = 100 * regret.high};
    table.add({name, cell(at(RankMetric::pairwise)), fixed(judged.spread(RankMetric::pairwise), 4),
               cell(at(RankMetric::tau)), cell(at(RankMetric::top_1)), cell(at(RankMetric::top_5)),
               cell(regret, 2), cell(at(RankMetric::ndcg_5))});
  }
  return {fmt::format("{}, {} schedules: {} graphs", standing.set, name(standing.filter), standing.graphs),
          std::move(table)};
}

}  // namespace fuselage::experiments

#include "fidelity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace fuselage::experiments {
namespace {

using learn::Index;
using learn::Matrix;

constexpr std::size_t states_of_a_spread = 8000;

// Mean square distance of columns from their mean.
double scatter(const Matrix<double>& latents) {
  const Eigen::VectorXd mean = latents.rowwise().mean();
  return (latents.colwise() - mean).squaredNorm() / static_cast<double>(latents.cols());
}

std::vector<std::size_t> some_states(const learn::StateSequences& set) {
  const std::size_t all = set.first.back() + set.sequences();
  const std::size_t stride = std::max<std::size_t>(1, all / states_of_a_spread);
  std::vector<std::size_t> states;
  for (std::size_t i = 0; i < all; i += stride) states.push_back(i);
  return states;
}

struct Tally {
  double schedules = 0;
  double hits = 0;
};

// Is the state that prediction i should be nearer to it, by cosine, than any other?
bool is_nearest(const Matrix<float>& predicted, const Matrix<float>& target,
                const std::vector<std::int64_t>& identities, Index i) {
  const auto cosine = [&](Index k) {
    const double length = target.col(k).norm();
    return length > 0 ? static_cast<double>(predicted.col(i).dot(target.col(k))) / length : 0;
  };
  const double own = cosine(i);
  for (Index k = 0; k < target.cols(); ++k)
    if (identities[static_cast<std::size_t>(k)] != identities[static_cast<std::size_t>(i)] &&
        cosine(k) >= own)
      return false;
  return true;
}

}  // namespace

learn::LatentSpread spread_of(const learn::WorldModel& model, const learn::StateSequences& set) {
  return learn::latent_spread<float>(model.encode(set, some_states(set)));
}

AtHorizon fidelity(const learn::WorldModel& model, const learn::StateSequences& set, std::size_t tokens) {
  AtHorizon result{.tokens = tokens};
  const learn::WorldModel::Predicted all = model.predict(set, tokens);
  const double spread = scatter(model.encode(set, some_states(set)).cast<double>());
  double squares = 0, at_once = 0;
  for (std::size_t first = 0; first < all.groups.size();) {
    std::size_t last = first;
    while (last < all.groups.size() && all.groups[last] == all.groups[first]) ++last;
    const std::vector<std::size_t> states(all.states.begin() + static_cast<std::ptrdiff_t>(first),
                                          all.states.begin() + static_cast<std::ptrdiff_t>(last));
    const auto count = static_cast<Index>(last - first);
    const Matrix<float> predicted = all.latents.middleCols(static_cast<Index>(first), count);
    const Matrix<float> target = model.encode(set, states);
    const std::vector<std::int64_t> identities = learn::identities_of(set, states);
    const double error = (predicted - target).cast<double>().squaredNorm() / static_cast<double>(count);
    const double within = scatter(target.cast<double>());
    squares += error;
    at_once += within > 0 ? std::sqrt(error / within) : 0;
    std::map<std::int64_t, Tally> states_here;
    double hits = 0;
    for (Index i = 0; i < count; ++i) {
      Tally& tally = states_here[identities[static_cast<std::size_t>(i)]];
      const double hit = is_nearest(predicted, target, identities, i);
      tally.schedules += 1;
      tally.hits += hit;
      hits += hit;
    }
    double most = 0, once = 0;
    for (const auto& [identity, tally] : states_here) {
      most = std::max(most, tally.schedules);
      once += tally.hits / tally.schedules;
    }
    result.of_graphs.push_back(hits / static_cast<double>(count));
    result.commonest += most / static_cast<double>(count);
    result.each_once += once / static_cast<double>(states_here.size());
    result.states += static_cast<double>(states_here.size());
    result.schedules += static_cast<double>(count);
    ++result.graphs;
    first = last;
  }
  const auto graphs = static_cast<double>(std::max<std::size_t>(1, result.graphs));
  result.states /= graphs;
  result.commonest /= graphs;
  result.each_once /= graphs;
  result.schedules /= graphs;
  result.error = spread > 0 ? std::sqrt(squares / graphs / spread) : 0;
  result.error_at_once = at_once / graphs;
  result.retrieval = std::accumulate(result.of_graphs.begin(), result.of_graphs.end(), 0.0) / graphs;
  return result;
}

}  // namespace fuselage::experiments

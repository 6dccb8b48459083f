// What a policy tends to do, whatever it costs: how often it fuses where it could, how often it retains what
// it could retain, and whether that depends on when the tensor is read again and on how full fast memory is.
// A policy that always retains, or never, has a rate and no judgement; the figures here tell the two apart.
//
// Fusion. A node could fuse if fusing it with tile 32 and nothing retained, the easiest way, would not be
// refused: it reads the open kernel, which isn't too deep, and fits. The rate is the share of those that did.
//
// Retention. A choice is made when a kernel closes, of each tensor that it makes or loads, that is read again
// later, and that would fit if it alone were retained at the kernel's tile. It counts as retained if it is
// resident afterwards. Tensors that were resident before are no choice: they stay while they are read again.
//   distance   nodes from the kernel's last one to the tensor's next reader; 1 is the very next node
//   pressure   bytes resident while the kernel runs / capacity of fast memory
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuselage/walk/episode.h"

namespace fuselage::oracle {

inline constexpr std::array<std::string_view, 4> distance_names = {"1", "2-3", "4-7", "8+"};
inline constexpr std::array<std::string_view, 4> pressure_names = {"<25%", "25-50%", "50-75%", "75%+"};
std::size_t distance_bucket(int nodes);        // nodes >= 1
std::size_t pressure_bucket(double fraction);  // a bucket's lower end belongs to it

// Of any number of things that could have been done.
struct Rate {
  std::int64_t done = 0;
  std::int64_t could = 0;

  std::optional<double> value() const;  // none if nothing could
  Rate& operator+=(const Rate& other);
};

// Sums of counts: habits of episodes add up to those of a policy.
struct Habits {
  Rate fusion;
  std::array<std::array<Rate, 4>, 4> retention_cells;  // by distance, then by pressure

  Habits& operator+=(const Habits& other);
  Rate retention() const;
  Rate retention_at_distance(std::size_t bucket) const;
  Rate retention_at_pressure(std::size_t bucket) const;

  // How much of the choice to retain or not follows from the 16 cells: the mutual information of choice and
  // cell, as a share of the entropy of the choice, adjusted for chance with the exact mean over all ways to
  // spread the same choices over the cells (Vinh, Epps and Bailey, "Information theoretic measures for
  // clusterings comparison", 2010): (I - E[I]) / (H - E[I]). 1: it follows; about 0: as if by lot. None if
  // all are alike, or there are too few to tell (H = E[I]).
  std::optional<double> dependence() const;
  // Probability that of a retained tensor and one that wasn't the former is in the nearer bucket, or in that
  // of less pressure; equal ones count half (the area under the ROC curve). 0.5: no preference. None if all
  // are alike.
  std::optional<double> prefers_near() const;
  std::optional<double> prefers_room() const;
};

// Of one episode, as far as the answers go.
Habits habits_of(const walk::EpisodeContext& context, walk::Rules rules,
                 std::span<const std::string> answers);

}  // namespace fuselage::oracle

// The optimiser: Adam (Kingma, Ba, "Adam: a method for stochastic optimization", 2015) with a rate that rises
// linearly for the first steps and falls linearly to nothing at the last, on gradients whose length is
// limited (Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks", 2013).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/learn/parameters.h"

namespace fuselage::learn {

struct AdamOptions {
  double rate = 2e-3;  // at the height
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::int64_t warm_up = 0;  // steps until the height
  std::int64_t total = 0;    // steps in all, for the fall; 0: no fall
  double clip = 1;           // largest Euclidean norm of all gradients together; 0: any
};

template <class T>
class Adam {
 public:
  Adam(const Parameters<T>& parameters, const AdamOptions& options);

  // Of step 0, 1, …: rate · (step + 1) / warm_up before the height, rate · (total − step) / (total − warm_up)
  // after.
  double rate(std::int64_t step) const;

  // Moves the parameters against their gradients and clears these. Returns the norm that the gradients had
  // before they were limited. Error if it is not finite: no parameter has changed then.
  double step(Parameters<T>& parameters);

  // All that a later step depends on besides the options; `restore` takes them from a checkpoint, with as
  // many numbers as there are parameters.
  std::int64_t steps() const { return steps_; }
  std::span<const T> first_moments() const { return first_; }
  std::span<const T> second_moments() const { return second_; }
  void restore(std::int64_t steps, std::span<const T> first, std::span<const T> second);

 private:
  AdamOptions options_;
  std::int64_t steps_ = 0;
  std::vector<T> first_;
  std::vector<T> second_;
};

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace fuselage::learn

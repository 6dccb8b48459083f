// A part of a schedule that can be cut out, changed and put back: kernels that follow each other, the states
// between them and what each costs, kept side by side so that engines read them without a detour.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fuselage::search {

template <class P>
struct Stretch {
  std::vector<typename P::Kernel> kernels = {};
  std::vector<typename P::State> trail = {};  // before each kernel, and the end: one more than kernels
  std::vector<double> prices = {};
  std::vector<char> fresh = {};  // its moves have not been tried since something near it changed

  std::size_t size() const { return kernels.size(); }
  double cost(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += prices[i];
    return sum;
  }
  void clear() {
    kernels.clear();
    trail.clear();
    prices.clear();
    fresh.clear();
  }
  // Its part [from, to), and the state after it, in place of everything.
  void assign(const Stretch& other, std::size_t from, std::size_t to) {
    const auto i = static_cast<std::ptrdiff_t>(from);
    const auto j = static_cast<std::ptrdiff_t>(to);
    kernels.assign(other.kernels.begin() + i, other.kernels.begin() + j);
    trail.assign(other.trail.begin() + i, other.trail.begin() + j + 1);
    prices.assign(other.prices.begin() + i, other.prices.begin() + j);
    fresh.assign(other.fresh.begin() + i, other.fresh.begin() + j);
  }
  // [from, to) gives way to another stretch that starts in the same state; the state after it becomes that
  // one's last.
  void replace(std::size_t from, std::size_t to, const Stretch& other) {
    splice(kernels, from, to, other.kernels, 0);
    splice(prices, from, to, other.prices, 0);
    splice(fresh, from, to, other.fresh, 0);
    splice(trail, from + 1, to + 1, other.trail, 1);
  }

 private:
  template <class T>
  static void splice(std::vector<T>& into, std::size_t from, std::size_t to, const std::vector<T>& source,
                     std::size_t skip) {
    const auto at = [&](std::size_t i) { return into.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto begin = source.begin() + static_cast<std::ptrdiff_t>(skip);
    const std::size_t same = std::min(to - from, source.size() - skip);
    const auto middle = begin + static_cast<std::ptrdiff_t>(same);
    std::copy(begin, middle, at(from));
    if (middle == source.end())
      into.erase(at(from + same), at(to));
    else
      into.insert(at(to), middle, source.end());
  }
};

}  // namespace fuselage::search

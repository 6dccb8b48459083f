#include "plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace fuselage::report {
namespace {

// What is less is drawn as 0: steps of a part of it are no numbers any more.
constexpr double least_size = 1e-280;

// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `least`.
double nice_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

// With as many digits as tell it from its neighbour, `step` away. Thousands are "k" if the axis goes far
// beyond.
std::string tick_label(double value, double step, double most) {
  if (std::abs(value) < step * 1e-6) return "0";
  const double size = std::abs(value);
  double unit = 1;
  const char* suffix = "";
  if (size >= 1e9 && size < 1e12) {
    unit = 1e9;
    suffix = "G";
  } else if (size >= 1e6 && size < 1e9) {
    unit = 1e6;
    suffix = "M";
  } else if (size >= 1e3 && size < 1e6 && most >= 1e4) {
    unit = 1e3;
    suffix = "k";
  }
  const int digits = static_cast<int>(std::ceil(std::log10(size / step) - 1e-9)) + 2;
  return fmt::format("{:.{}g}{}", value / unit, std::clamp(digits, 4, 15), suffix);
}

std::vector<Tick> linear_ticks(double low, double high, double step) {
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - 1e-6);
  for (int i = 0; i < 100; ++i) {
    const double at = (first + i) * step;
    if (at > high + 1e-6 * step) break;
    ticks.push_back({.at = at, .label = tick_label(at, step, std::max(std::abs(low), std::abs(high)))});
  }
  return ticks;
}

Scale linear_scale(const Extent& extent) {
  double low = extent.low;
  double high = extent.high;
  if (extent.from_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  }
  double size = std::max(std::abs(low), std::abs(high));
  if (size < least_size) low = high = size = 0;
  if (high - low <= std::max(1e-9 * size, least_size)) {  // one value, or none that differ visibly
    const double room = size > 0 ? 0.05 * size : 0.5;
    low -= extent.from_zero && low == 0 ? 0 : room;
    high += extent.from_zero && high == 0 && size > 0 ? 0 : room;
  }
  double step = nice_step((high - low) / extent.ticks);
  if (std::floor(high / step) - std::ceil(low / step) < 1)
    step = nice_step(step / 2.1);  // two ticks at least
  if (extent.to_ticks) {
    low = std::floor(low / step + 1e-6) * step;
    high = std::ceil(high / step - 1e-6) * step;
  } else {
    const double room = 0.02 * (high - low);
    low -= room;
    high += room;
  }
  return {.low = low, .high = high, .ticks = linear_ticks(low, high, step)};
}

// Labelled: 1, 2 and 5 times each power of ten, or fewer if these are more than `wanted`.
std::vector<Tick> log_ticks(double low, double high, int wanted) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const auto at = [](int power, int digit) { return digit * std::pow(10, power); };
  const auto is_on = [&](double value) { return value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9); };
  const auto count = [&](std::initializer_list<int> digits) {
    int number = 0;
    for (int power = first; power <= last; ++power)
      for (const int digit : digits) number += is_on(at(power, digit)) ? 1 : 0;
    return number;
  };
  const bool with_2 = count({1, 2, 5}) <= wanted;
  const bool with_5 = with_2 || count({1, 5}) <= wanted || count({1}) < 2;
  const int every = 1 + (count({1}) - 1) / std::max(1, wanted);
  const auto is_labelled = [&](int power, int digit) {
    return digit == 1 ? (power - first) % every == 0
                      : every == 1 && (digit == 5 ? with_5 : digit == 2 && with_2);
  };
  std::vector<Tick> ticks;
  for (int power = first; power <= last; ++power)
    for (int digit = 1; digit <= (every == 1 ? 9 : 1); ++digit) {
      const double value = at(power, digit);
      if (is_on(value))
        ticks.push_back(
            {.at = value, .label = is_labelled(power, digit) ? tick_label(value, value, high) : ""});
    }
  return ticks;
}

// What is below the floor is drawn there.
Scale log_scale(const Extent& extent) {
  const bool has_less = extent.floor && extent.low < *extent.floor;
  const double least = has_less ? *extent.floor : extent.low;
  const double most = std::max(extent.high, least);
  const double room = most / least < 1.1 ? 1.5 : 1.1;
  const double low = least / (has_less ? 1.15 : room);  // the floor is above the axis, to be seen
  const double high = has_less && room > 1.1 ? 10 * most : most * room;
  Scale scale{.low = low, .high = high, .ticks = {}};
  scale.ticks = high / low < 2 ? linear_ticks(low, high, nice_step((high - low) / extent.ticks))
                               : log_ticks(low, high, extent.ticks);
  if (!has_less) return scale;
  std::erase_if(scale.ticks, [&](const Tick& tick) { return tick.at < least * (1 - 1e-9); });
  for (Tick& tick : scale.ticks)
    if (tick.at <= least * (1 + 1e-9)) tick.label = "\u2264 " + tick.label;
  return scale;
}

}  // namespace

Scale scale_of(const Extent& extent) {
  return extent.log ? log_scale(extent) : linear_scale(extent);
}

}  // namespace fuselage::report

// SPDX-License-Identifier: MIT
#include "reports/plot/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr int most_ticks = 7;

/// 1, 2 or 5 times a power of ten, so that `most_ticks` steps cover the span.
double round_step(double span) {
  const double rough = span / (most_ticks - 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Scale::Scale(const std::vector<double>& values, bool logarithmic) : logarithmic_(logarithmic) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (values.empty()) {
    logarithmic_ = false;
    set_linear(0, 1);
  } else if (logarithmic_ && *low > 0) {
    set_logarithmic(*low, *high);
  } else {
    logarithmic_ = false;
    set_linear(std::min(*low, 0.0), std::max(*high, 0.0));
  }
}

Scale Scale::at(std::vector<double> marks, bool logarithmic) {
  Scale scale(marks, logarithmic);
  std::sort(marks.begin(), marks.end());
  if (marks.size() < 2 || marks.front() == marks.back()) return scale;
  constexpr double room = 0.04;
  const double low = marks.front(), high = marks.back();
  const double ratio = scale.logarithmic_ ? std::pow(high / low, room) : 1;
  const double margin = scale.logarithmic_ ? 0 : room * (high - low);
  scale.low_ = low / ratio - margin;
  scale.high_ = high * ratio + margin;
  scale.ticks_ = std::move(marks);
  return scale;
}

void Scale::set_linear(double low, double high) {
  const double step = round_step(high > low ? high - low : 1);
  const double first = std::floor(low / step), last = std::max(std::ceil(high / step), first + 1);
  low_ = first * step;
  high_ = last * step;
  for (double i = first; i <= last; ++i) ticks_.push_back(i * step);
}

void Scale::set_logarithmic(double low, double high) {
  // Powers of ten, and between them 2 and 5 where there is room for them.
  const double decades = std::log10(high) - std::log10(low);
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const int stride = std::max(1, (last - first + most_ticks - 1) / most_ticks);
  std::vector<double> marks;
  for (int power = first; power <= last; power += stride) {
    const double ten = std::pow(10, power);
    marks.push_back(ten);
    if (decades > 2.5) continue;
    marks.push_back(2 * ten);
    marks.push_back(5 * ten);
  }
  if (marks.back() < high) marks.push_back(std::pow(10, last + stride));
  // The ends are the nearest marks outside of the values.
  const auto begin = std::upper_bound(marks.begin(), marks.end(), low * (1 + 1e-9));
  const auto end = std::lower_bound(marks.begin(), marks.end(), high * (1 - 1e-9));
  ticks_.assign(begin == marks.begin() ? begin : begin - 1, end == marks.end() ? end : end + 1);
  if (ticks_.size() == 1) ticks_.push_back(10 * ticks_[0]);
  low_ = ticks_.front();
  high_ = ticks_.back();
}

double Scale::place(double value) const {
  const double place = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return std::clamp(place, 0.0, 1.0);
}

std::string tick_text(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e15) return readable_number(value, Zeros::trim);
  struct Prefix {
    double factor;
    const char* symbol;
  };
  for (const Prefix& prefix :
       {Prefix{1e12, "T"}, Prefix{1e9, "G"}, Prefix{1e6, "M"}, Prefix{1e4, "k"}}) {
    if (magnitude < prefix.factor) continue;
    const double unit = prefix.factor == 1e4 ? 1e3 : prefix.factor;
    return readable_number(value / unit, Zeros::trim) + prefix.symbol;
  }
  return readable_number(value, Zeros::trim);
}

}  // namespace warpmeter::reports

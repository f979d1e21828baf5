// SPDX-License-Identifier: MIT
#include "reports/statistics.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>

#include "base/statistics.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t largest_exact = 12;  // samples a side
constexpr std::size_t resamples = 1000;

// How far a session shifts a median: a quarter of the samples' scatter (that of the middle half),
// but not more than 50 ns and 0.2 % together. Read from 26 sessions of 36 launches on an H200.
constexpr double share_of_scatter = 0.25;
constexpr double largest_shift_ns = 50;
constexpr double largest_shift_share = 0.002;

double two_sided(double deviate) { return std::erfc(std::abs(deviate) / std::sqrt(2.0)); }

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Standard deviation of a normal distribution with the same middle half: outliers do not count.
double scatter(std::span<const double> sorted) {
  return (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
}

/// Variance of the median over the median's square, the sessions' shifts included.
double relative_variance(const Samples& samples) {
  const double median = samples.median();
  const double own = 1.2533 * scatter(samples.sorted_ns) /
                     std::sqrt(static_cast<double>(samples.sorted_ns.size()));  // √(π/2)·σ/√n
  const double shift = session_shift(samples) / std::sqrt(static_cast<double>(samples.sessions));
  return (own * own + shift * shift) / (median * median);
}

/// The two sides in one order: twice the mean rank of each value, where ties share theirs.
struct Ranks {
  std::vector<int> doubled;   ///< for all values, ascending
  std::int64_t base_sum = 0;  ///< the base sum of the base's values
  double ties = 0;            ///< Σ(t³ − t)
};

Ranks rank(std::span<const double> base, std::span<const double> contender) {
  Ranks ranks;
  std::size_t a = 0, b = 0;
  while (a < base.size() || b < contender.size()) {
    const double value = b == contender.size() || (a < base.size() && base[a] <= contender[b])
                             ? base[a]
                             : contender[b];
    const std::size_t before = a + b, base_before = a;
    while (a < base.size() && base[a] == value) ++a;
    while (b < contender.size() && contender[b] == value) ++b;
    const auto tied = static_cast<double>(a + b - before);
    const int doubled = static_cast<int>(before + 1 + a + b);
    ranks.doubled.insert(ranks.doubled.end(), a + b - before, doubled);
    ranks.base_sum += static_cast<std::int64_t>(a - base_before) * doubled;
    ranks.ties += tied * tied * tied - tied;
  }
  return ranks;
}

/// The share of all ways to choose the base's ranks whose sum is at least as far from the middle.
double exact_p(const Ranks& ranks, std::size_t base) {
  const int total = std::accumulate(ranks.doubled.begin(), ranks.doubled.end(), 0);
  const auto sums = static_cast<std::size_t>(total) + 1;
  // ways[k][s]: choices of k of the ranks seen so far whose sum is s.
  std::vector<std::vector<double>> ways(base + 1, std::vector<double>(sums, 0));
  ways[0][0] = 1;
  for (const int doubled : ranks.doubled) {
    const auto step = static_cast<std::size_t>(doubled);
    for (std::size_t k = base; k > 0; --k) {
      for (std::size_t s = sums - 1; s >= step; --s) ways[k][s] += ways[k - 1][s - step];
    }
  }
  const double middle = static_cast<double>(total) * static_cast<double>(base) /
                        static_cast<double>(ranks.doubled.size());
  const double distance = std::abs(static_cast<double>(ranks.base_sum) - middle) - 1e-6;
  double all = 0, as_far = 0;
  for (std::size_t s = 0; s < sums; ++s) {
    all += ways[base][s];
    if (std::abs(static_cast<double>(s) - middle) >= distance) as_far += ways[base][s];
  }
  return as_far / all;
}

/// Steps of the bootstrap distribution of the median of n values: the places of the two middle
/// order statistics of each resample, as indices into the sorted values.
struct MedianSteps {
  std::vector<std::size_t> lower, upper;
};

const MedianSteps& median_steps(std::size_t n) {
  static std::map<std::size_t, MedianSteps> known;
  const auto [entry, is_new] = known.try_emplace(n);
  if (!is_new) return entry->second;
  const auto place = [n](const boost::math::beta_distribution<>& distribution, double share) {
    const double at = boost::math::quantile(distribution, share) * static_cast<double>(n);
    return std::min(static_cast<std::size_t>(at), n - 1);
  };
  const std::size_t lower_rank = (n + 1) / 2, upper_rank = n / 2 + 1;
  const auto low_rank = static_cast<double>(lower_rank);
  const auto high_rank = static_cast<double>(upper_rank);
  const auto count = static_cast<double>(n);
  const boost::math::beta_distribution<> low(low_rank, count + 1 - low_rank);
  const boost::math::beta_distribution<> high(high_rank, count + 1 - high_rank);
  for (std::size_t i = 0; i < resamples; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / resamples;
    entry->second.lower.push_back(place(low, share));
    entry->second.upper.push_back(n % 2 == 1 ? entry->second.lower.back() : place(high, share));
  }
  return entry->second;
}

/// The numbers below `resamples` in an order without a pattern, the same in every run.
std::vector<std::size_t> shuffled(unsigned seed) {
  std::vector<std::size_t> order(resamples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(seed);
  for (std::size_t i = resamples - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  return order;
}

const std::vector<double>& normal_steps() {
  static const std::vector<double> steps = [] {
    std::vector<double> made;
    for (std::size_t i = 0; i < resamples; ++i) {
      made.push_back(
          boost::math::quantile(boost::math::normal(), (static_cast<double>(i) + 0.5) / resamples));
    }
    return made;
  }();
  return steps;
}

/// A resampled median, and the session's shift on top.
class Resampler {
 public:
  explicit Resampler(const Samples& samples)
      : samples_(samples.sorted_ns),
        steps_(median_steps(samples.sorted_ns.size())),
        shift_(session_shift(samples) / std::sqrt(static_cast<double>(samples.sessions))) {}

  double at(std::size_t median, std::size_t shift) const {
    return (samples_[steps_.lower[median]] + samples_[steps_.upper[median]]) / 2 +
           shift_ * normal_steps()[shift];
  }

 private:
  const std::vector<double>& samples_;
  const MedianSteps& steps_;
  double shift_;
};

}  // namespace

double Samples::median() const { return median_of_sorted(sorted_ns); }

double mann_whitney(std::span<const double> base, std::span<const double> contender) {
  const Ranks ranks = rank(base, contender);
  if (base.size() <= largest_exact && contender.size() <= largest_exact) {
    return exact_p(ranks, base.size());
  }
  const auto n = static_cast<double>(base.size()), m = static_cast<double>(contender.size());
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  const double u = static_cast<double>(ranks.base_sum) / 2 - n * (n + 1) / 2;
  return two_sided(std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance));
}

double session_shift(const Samples& samples) {
  const double seen = std::hypot(largest_shift_ns, largest_shift_share * samples.median());
  return std::min(share_of_scatter * scatter(samples.sorted_ns), seen);
}

double session_test(const Samples& base, const Samples& contender) {
  const double difference = std::log(contender.median() / base.median());
  const double variance = relative_variance(base) + relative_variance(contender);
  if (variance <= 0) return difference == 0 ? 1 : 0;
  return two_sided(difference / std::sqrt(variance));
}

Interval ratio_interval(const Samples& base, const Samples& contender) {
  static const std::vector<std::size_t> orders[] = {shuffled(1), shuffled(2), shuffled(3)};
  const Resampler bases(base), contenders(contender);
  std::vector<double> ratios(resamples);
  for (std::size_t i = 0; i < resamples; ++i) {
    ratios[i] = contenders.at(orders[0][i], orders[1][i]) / bases.at(i, orders[2][i]);
  }
  std::sort(ratios.begin(), ratios.end());
  return {quantile(ratios, 0.025), quantile(ratios, 0.975)};
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double p = p_values[order[i]] * static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, p));
    corrected[order[i]] = largest;
  }
  return corrected;
}

double clock_tick(const Samples& samples) {
  // Readings of one tick may differ by a nanosecond: the clock is converted to them.
  constexpr double conversion_ns = 1.5;
  std::vector<double> steps;
  for (std::size_t i = 1; i < samples.sorted_ns.size(); ++i) {
    const double step = samples.sorted_ns[i] - samples.sorted_ns[i - 1];
    if (step > conversion_ns) steps.push_back(step);
  }
  // Too few to tell a tick from scatter, or hardly a reading met twice: no tick to see.
  if (steps.size() < 4 || 2 * steps.size() > samples.sorted_ns.size()) return 0;
  std::sort(steps.begin(), steps.end());
  return steps[steps.size() / 2];
}

double smallest_p(std::size_t base, std::size_t contender) {
  double ways = 1;  // C(base + contender, base)
  for (std::size_t i = 1; i <= base; ++i) {
    ways *= static_cast<double>(contender + i) / static_cast<double>(i);
  }
  return std::min(1.0, 2 / ways);
}

double deviate_of(double p) {
  if (p >= 1) return 0;
  return boost::math::quantile(
      boost::math::complement(boost::math::normal(), std::max(p, 1e-300) / 2));
}

}  // namespace warpmeter::reports

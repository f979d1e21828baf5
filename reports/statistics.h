// SPDX-License-Identifier: MIT
// Is a difference of times real? The statistics behind `compare` and `check --baseline`.
//
// Samples of one session are not independent: they share the addresses of their buffers and code,
// the state of the memory, the temperature. Between processes the median of one and the same build
// moves by far more than its samples' scatter suggests (on an H200 by up to 2 % for a kernel of 3
// µs whose median 1,000 samples seem to fix to 0.2 %), so a test of the samples alone calls a
// quarter of all comparisons of a build with itself a change. A difference counts here only when it
// is too large for the samples (Mann–Whitney U) and too large for what a session shifts its median
// by. The latter was read from recordings of one H200 and holds on those of another one,
// tests/golden/h200_aa_samples.csv.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpmeter::reports {

/// The measurements of one launch, in one session or several.
struct Samples {
  std::vector<double> sorted_ns;  ///< ascending, at least one
  std::size_t sessions = 1;       ///< processes that they come from

  double median() const;
};

/// Two-sided p-value of the Mann–Whitney U test. Exact, ties included, when neither side has more
/// than 12 samples; else the normal approximation with correction for ties and continuity. Both
/// sorted.
double mann_whitney(std::span<const double> base, std::span<const double> contender);

/// Two-sided p-value of the ratio of medians against the shifts of sessions and the medians' own
/// errors.
double session_test(const Samples& base, const Samples& contender);

/// Standard deviation by which a session shifts its median, ns: a share of the samples' scatter,
/// and no more than was ever seen on hardware.
double session_shift(const Samples& samples);

struct Interval {
  double low = 0, high = 0;
};

/// 95 % percentile bootstrap interval of contender's median over base's, the shift of each session
/// included. Deterministic: the medians of resamples are taken at equal steps of their
/// distribution, which order statistics give in closed form (Maritz and Jarrett, 1978), not drawn
/// at random.
Interval ratio_interval(const Samples& base, const Samples& contender);

/// Holm's correction: the p-values of all rows, none of them below what it would be alone.
std::vector<double> holm(std::span<const double> p_values);

/// The smallest step between two different readings that most readings are apart: the tick of the
/// clock, where it is coarser than the scatter; 0 when there is none to see.
double clock_tick(const Samples& samples);

/// The p-value that two sides of so many samples have when all of one lie below all of the other.
double smallest_p(std::size_t base, std::size_t contender);

/// The normal deviate whose two-sided tail is `p`.
double deviate_of(double p);

}  // namespace warpmeter::reports

// SPDX-License-Identifier: MIT
#include "reports/compare/times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

/// Clocks that differ by less are one clock: its steps are 15 MHz, and it wanders by one of them.
constexpr double same_clock = 0.01;

bool clocks_differ(const LaunchGroup& base, const LaunchGroup& contender) {
  if (!base.sm_clock_mhz || !contender.sm_clock_mhz) return false;
  return std::abs(*contender.sm_clock_mhz / *base.sm_clock_mhz - 1) > same_clock;
}

double least_effect(const Samples& base, const Thresholds& thresholds) {
  return std::max(thresholds.least_effect, clock_tick(base) / base.median());
}

/// A test without its verdict, which needs the p-values of all others.
TimeTest tested(const Samples& base, const Samples& contender) {
  TimeTest test;
  test.base = base.median();
  test.contender = contender.median();
  test.ratio = test.contender / test.base;
  test.interval = ratio_interval(base, contender);
  test.p_value =
      std::max(mann_whitney(base.sorted_ns, contender.sorted_ns), session_test(base, contender));
  return test;
}

Verdict verdict_of(const TimeTest& test, double least, bool enough_samples,
                   const Thresholds& thresholds) {
  const bool significant = test.p_value <= thresholds.significance;
  if (significant && test.ratio >= 1 + least) return Verdict::slower;
  if (significant && test.ratio <= 1 - least) return Verdict::faster;
  const bool within = test.interval.low > 1 - least && test.interval.high < 1 + least;
  return within && enough_samples ? Verdict::same : Verdict::unclear;
}

/// Could these many samples have shown a change, had there been one?
bool could_decide(std::size_t base, std::size_t contender, std::size_t rows,
                  const Thresholds& thresholds) {
  return smallest_p(base, contender) * static_cast<double>(rows) <= thresholds.significance;
}

struct Needed {
  std::size_t samples = 0, runs = 1;  ///< a side
};

std::size_t fewest_that_decide(std::size_t rows, const Thresholds& thresholds) {
  std::size_t n = 1;
  while (!could_decide(n, n, rows, thresholds)) ++n;
  return n;
}

/// The data that would make the verdict clear, if the medians stay where they are: errors shrink
/// with the root of the number of samples, the shifts of sessions with the root of the number of
/// runs. None when the change is so near to the least effect that no reasonable number would do.
std::optional<Needed> needed_to_decide(const TimePair& pair, const GroupPair& sides,
                                       std::size_t rows, double least,
                                       const Thresholds& thresholds) {
  const auto now = static_cast<double>(std::min(pair.base_samples, pair.contender_samples));
  const auto sessions = std::min(sides.base->samples.sessions, sides.contender->samples.sessions);
  const double effect = std::abs(pair.time.ratio - 1);
  const double allowed = effect >= least
                             ? std::abs(std::log(pair.time.ratio)) /
                                   deviate_of(thresholds.significance / static_cast<double>(rows))
                             : (least - effect) / 1.96;
  const auto shift = [](const LaunchGroup& side) {
    return session_shift(side.samples) / side.samples.median() /
           std::sqrt(static_cast<double>(side.samples.sessions));
  };
  const double shifts = std::hypot(shift(*sides.base), shift(*sides.contender));
  const double error =
      (std::log(pair.time.interval.high) - std::log(pair.time.interval.low)) / 3.92;
  const double own = std::sqrt(std::max(0.0, error * error - shifts * shifts));
  const auto fewest = static_cast<double>(fewest_that_decide(rows, thresholds));
  Needed needed{0, sessions};
  double samples = std::max(now + 1, fewest);
  if (allowed > 1.2 * shifts) {
    const double factor = own * own / (allowed * allowed - shifts * shifts);
    samples = std::max(samples, std::ceil(now * factor));
  } else {
    const double factor = std::ceil(std::max(2.0, error * error / (allowed * allowed)));
    if (!(factor < 1e4)) return std::nullopt;
    needed.runs = sessions * static_cast<std::size_t>(factor);
    samples = std::max(samples, now * factor);
  }
  if (!(samples < 1e7)) return std::nullopt;
  needed.samples = static_cast<std::size_t>(samples);
  return needed;
}

std::string clock_text(const LaunchGroup& base, const LaunchGroup& contender) {
  return fmt::format("the SM clock was {} MHz against {} MHz",
                     grouped_number(std::llround(*contender.sm_clock_mhz)),
                     grouped_number(std::llround(*base.sm_clock_mhz)));
}

/// "the base was throttled (software power cap)"; `what`: it was.
std::string circumstance(const char* what, const std::set<std::string>& base,
                         const std::set<std::string>& contender) {
  const auto say = [&](std::string_view side, const std::set<std::string>& reasons) {
    return fmt::format("the {} was {} ({})", side, what, fmt::join(reasons, ", "));
  };
  if (base.empty() && contender.empty()) return "";
  if (base == contender) return fmt::format("both were {} ({})", what, fmt::join(base, ", "));
  std::string text;
  if (!base.empty()) text = say("base", base);
  if (!contender.empty()) text += (text.empty() ? "" : ", ") + say("contender", contender);
  return text;
}

void append(std::string& note, const std::string& text) {
  if (text.empty()) return;
  note += (note.empty() ? "" : "; ") + text;
}

/// The verdict of time and cycles together: what only one of them says may be the clock's doing,
/// and so may a change in the direction in which throttling or a neighbour on the card pushes.
void judge(TimePair& pair, const GroupPair& sides) {
  const LaunchGroup& base = *sides.base;
  const LaunchGroup& contender = *sides.contender;
  pair.verdict = pair.time.verdict;
  if (pair.cycles) {
    append(pair.note, clock_text(base, contender));
    append(pair.note, fmt::format("in cycles: {}", to_string(pair.cycles->verdict)));
    if (pair.cycles->verdict != pair.time.verdict) {
      append(pair.note,
             fmt::format("in time: {}; measure both at one clock", to_string(pair.time.verdict)));
      pair.verdict = Verdict::unclear;
    }
  }
  append(pair.note, circumstance("throttled", base.throttled, contender.throttled));
  append(pair.note, circumstance("disturbed", base.disturbed, contender.disturbed));
  const auto may_explain = [&](const std::set<std::string>& of_base,
                               const std::set<std::string>& of_contender) {
    const bool alike = of_base == of_contender && !pair.cycles;
    const bool slowed = !of_contender.empty() && pair.verdict == Verdict::slower;
    const bool spared = !of_base.empty() && pair.verdict == Verdict::faster;
    return !alike && (slowed || spared);
  };
  const bool by_clocks = may_explain(base.throttled, contender.throttled);
  if (!by_clocks && !may_explain(base.disturbed, contender.disturbed)) return;
  append(pair.note, fmt::format("in time: {}, which the {} may explain: measure again",
                                to_string(pair.verdict), by_clocks ? "throttling" : "disturbance"));
  pair.verdict = Verdict::unclear;
}

/// The test of cycles: the contender's times as they would be at the base's clock.
TimeTest tested_in_cycles(const LaunchGroup& base, const LaunchGroup& contender) {
  Samples at_one_clock = contender.samples;
  for (double& value : at_one_clock.sorted_ns)
    value *= *contender.sm_clock_mhz / *base.sm_clock_mhz;
  TimeTest test = tested(base.samples, at_one_clock);
  test.base *= *base.sm_clock_mhz / 1000;
  test.contender *= *base.sm_clock_mhz / 1000;
  return test;
}

/// The p-values of `tests`, corrected for their number.
void correct(const std::vector<TimeTest*>& tests) {
  std::vector<double> p_values;
  for (const TimeTest* test : tests) p_values.push_back(test->p_value);
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t i = 0; i < tests.size(); ++i) tests[i]->p_value = corrected[i];
}

void explain(TimePair& pair, const GroupPair& sides, std::size_t rows, double least,
             const Thresholds& thresholds) {
  if (pair.verdict != Verdict::unclear || pair.time.verdict != Verdict::unclear) return;
  const std::optional<Needed> needed = needed_to_decide(pair, sides, rows, least, thresholds);
  if (!needed) {
    append(pair.note,
           "no number of samples would decide it: the change is as large as the least "
           "that counts");
    return;
  }
  pair.samples_needed = needed->samples;
  const std::string samples = grouped_number(static_cast<std::int64_t>(needed->samples));
  append(pair.note, needed->runs > sides.base->samples.sessions
                        ? fmt::format("about {} samples in {} runs a side would decide it", samples,
                                      grouped_number(static_cast<std::int64_t>(needed->runs)))
                        : fmt::format("about {} samples a side would decide it", samples));
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::string_view names[] = {"faster", "slower", "same", "unclear"};
  return names[static_cast<int>(verdict)];
}

std::vector<TimePair> test_times(const std::vector<GroupPair>& pairs,
                                 const Thresholds& thresholds) {
  std::vector<TimePair> tested_pairs;
  tested_pairs.reserve(pairs.size());
  for (const GroupPair& sides : pairs) {
    TimePair& pair = tested_pairs.emplace_back();
    pair.name = sides.name;
    pair.base_samples = sides.base->samples.sorted_ns.size();
    pair.contender_samples = sides.contender->samples.sorted_ns.size();
    pair.time = tested(sides.base->samples, sides.contender->samples);
    if (clocks_differ(*sides.base, *sides.contender)) {
      pair.cycles = tested_in_cycles(*sides.base, *sides.contender);
    }
  }
  std::vector<TimeTest*> times, cycles;
  for (TimePair& pair : tested_pairs) {
    times.push_back(&pair.time);
    if (pair.cycles) cycles.push_back(&*pair.cycles);
  }
  correct(times);
  correct(cycles);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    TimePair& pair = tested_pairs[i];
    const double least = least_effect(pairs[i].base->samples, thresholds);
    const bool enough =
        could_decide(pair.base_samples, pair.contender_samples, pairs.size(), thresholds);
    pair.time.verdict = verdict_of(pair.time, least, enough, thresholds);
    if (pair.cycles) pair.cycles->verdict = verdict_of(*pair.cycles, least, enough, thresholds);
    judge(pair, pairs[i]);
    explain(pair, pairs[i], pairs.size(), least, thresholds);
  }
  return tested_pairs;
}

}  // namespace warpmeter::reports

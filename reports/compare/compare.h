// SPDX-License-Identifier: MIT
// `compare`: what changed between two runs (or variants, devices, backends, labels, sizes), and
// whether it is real.
//
// Launches are paired by family, variant, size and geometry. Counters compare exactly. Times
// compare by their samples: a change needs significance (statistics.h) and a least effect. Launches
// that cannot be compared is listed with the reason and never turned into a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/explain/explained.h"
#include "reports/statistics.h"
#include "reports/table/table.h"
#include "reports/unfinished.h"
#include "schema/figures/kinds.h"
#include "schema/store.h"

namespace warpmeter::reports {

enum class Key { run, variant, device, backend, label, size };

struct CompareRequest {
  Key by = Key::run;
  /// Two runs or two values of the key; or one run that holds them (Key::run: compared with the
  /// last); or none.
  std::vector<std::string> names = {};
  std::string run = "";    ///< the run in which values are looked for; empty: the last
  std::string label = "";  ///< Key::device: all runs of this label instead of one run
  RunNames run_names = {};
  schema::KindsByRun kinds = {};  ///< known runs, which are not read again
};

/// The conditions for a change of time.
struct Thresholds {
  double significance = 0.001;  ///< the significance of all rows together
  double least_effect = 0.01;   ///< the least effect of the ratio of medians
};

enum class Verdict { faster, slower, same, unclear };
std::string_view to_string(Verdict verdict);

/// Two launches (or repetitions of them) that belong together.
struct PairName {
  std::string family, variant, grid, block;
  std::optional<std::int64_t> size;
  std::string base, contender;  ///< where the pair's sides differ from those of the comparison
  bool is_by_device = false;    ///< these are devices
  std::string text() const;     ///< "transpose/naive at 1,024"
};

/// One test of two times.
struct TimeTest {
  double base = 0, contender = 0;  ///< medians
  double ratio = 1;                ///< contender over base: above 1 is slower
  Interval interval;               ///< 95 % of the ratio
  double p_value = 1;              ///< the p value, corrected for the number of rows
  Verdict verdict = Verdict::unclear;
};

struct TimePair {
  PairName name;
  TimeTest time;                   ///< ns
  std::optional<TimeTest> cycles;  ///< where the SM clocks differ
  Verdict verdict = Verdict::unclear;
  std::size_t base_samples = 0, contender_samples = 0;
  std::optional<std::size_t> samples_needed;  ///< a side, when unclear and samples would decide
  std::string note;                           ///< clocks, throttling, why it is unclear
};

enum class Change {
  same,
  changed,
  within_spread,  ///< launches of one side differ among themselves as much
  unclear,        ///< it moves by itself or was not counted alike; the note says which
};
std::string_view to_string(Change change);

struct CounterPair {
  PairName name;
  std::string metric, unit;
  double base = 0, contender = 0;  ///< medians of the launches
  std::optional<Range> base_spread, contender_spread;
  std::string base_grade, contender_grade;
  Change change = Change::same;
  std::string note;
};

enum class FindingChange { came, went, worse, better, same };
std::string_view to_string(FindingChange change);

/// The findings of `explain` in the launches of a pair; one side is absent where it came or went.
struct FindingPair {
  PairName name;
  FindingChange change = FindingChange::same;
  std::optional<ExplainedFinding> base, contender;
};

/// The need of both sides of a resource that limits one of them.
struct NeedPair {
  std::string resource, unit;  ///< "shared memory", "wavefronts"
  double base = 0, contender = 0;
};

/// The limits of both sides of a pair on the model, where no clock says which takes longer.
struct LimitPair {
  PairName name;
  std::vector<NeedPair> needs;  ///< the common limit's, or each side's; none if unknown
  std::string sentence;         ///< without the pair's name; or why it is unknown, no sentence
  bool is_alike = false;        ///< neither side needs less of any resource that has a count
};

/// A launch that was not compared, and why.
struct Leftover {
  std::string what, reason;
  bool broke = false;  ///< the base worked and the contender failed
};

struct Side {
  std::string name;  ///< "run 3 (nightly)", "tiled", "NVIDIA H200"
  std::vector<std::int64_t> runs;
  std::string about;  ///< device, backend, revision, start
};

struct Comparison {
  Side base, contender;
  Thresholds thresholds;
  std::size_t pairs = 0;
  std::size_t untimed_pairs = 0;  ///< no time on either side
  std::string untimed_reason;
  std::size_t counters_compared = 0;
  std::vector<TimePair> times;
  std::vector<CounterPair> counters;  ///< those that differ, and metrics derived from them
  std::vector<FindingPair> findings;  ///< those that are not the same
  std::size_t same_findings = 0;
  std::vector<LimitPair> limits;
  std::vector<std::string> uncounted;  ///< the resources that have no count in any of them
  std::vector<Leftover> leftovers;
  std::vector<std::string> remarks;  ///< clocks, throttling, devices
  /// Why runs of a side are not the whole of what they were going to measure (unfinished.h); said
  /// in the remarks too. "Nothing is slower" is then no answer.
  std::vector<std::string> unfinished;

  std::size_t count(Verdict verdict) const;
  std::size_t count(Change change) const;
  bool has_slower() const;   ///< or a launch that broke
  bool has_changed() const;  ///< faster or a counter too
  bool has_times() const;    ///< some pair has them: something could be slower
};

/// Throws Error{usage} when a run or value does not exist, with those that do; Error{nothing} when
/// there is nothing to pair.
Comparison compare(const schema::Reader& reader, const CompareRequest& request,
                   const Thresholds& thresholds = {});

/// markdown, html and table: for people. csv: one row a compared time or counter. json: an object.
std::string render(const Comparison& comparison, Format format, std::size_t width = 0);

}  // namespace warpmeter::reports

// SPDX-License-Identifier: MIT
// The one list of what warpmeter can measure. It is read from catalogue.json and the files of the
// folder catalogue/, embedded at build, and drives the CUPTI plan, the model's counters, the rows
// in the database, headings, `list metrics` and the docs.
//
// A counter is stored as measured. A metric is derived in SQL from counters:
//   value = scale × (Σ(factor × counter) / Σ(factor × counter))    (the denominator may be empty:
//   1)
// so that numerator and denominator can be audited. duration and achieved_bandwidth are derived so
// from the timing and the launch's useful bytes, resources from the kernel's code and geometry. No
// formula is written anywhere else: the views get theirs from here (schema/view_sql.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/by_name.h"

namespace warpmeter::schema {

/// A hardware counter that is not 0 where another one is not all that its description says.
struct Doubt {
  std::string perfworks;  ///< full name with rollup
  std::string code;       ///< a kernel has this then, as in CounterInfo; may be empty
  std::string reason;     ///< the reason of the grade that the other has then
};

struct Term {
  double factor = 1;
  std::string name;  ///< a counter's; of a metric without counters: a column of what is stored
};

struct CounterInfo {
  std::string name;         ///< "shared_load_wavefronts"
  std::string unit;         ///< "wavefronts"
  std::string description;  ///< one sentence
  std::string perfworks;    ///< full name with rollup; empty: a sum, or hardware has none
  std::vector<std::string> perfworks_else;  ///< other chips' names, in the order they are tried
  std::string lacking;                      ///< why hardware has none; empty where it has one
  std::vector<std::string> perfworks_also;  ///< where a chip has them, they are added
  std::vector<Doubt> doubts;
  /// The metric that a quotient divides by, and the reason where that is 0, for which CUPTI says 0.
  std::string divisor, undefined;
  /// The counters whose sum it is; it has no name of its own. A chip without one of them has no
  /// instruction that it would count. Their doubts are not its own: it is the whole.
  std::vector<Term> sum;
  bool nvprof = false;  ///< nvprof had it under this name
  /// 0 for a kernel whose machine code has none of this: "bulk_copies"; empty: not known.
  std::string code;

  bool is_on_hardware() const { return !perfworks.empty() || !sum.empty(); }
};

struct MetricInfo {
  std::string name;  ///< nvprof's where nvprof had one
  bool nvprof = false;
  std::string unit;     ///< nvprof's: "%" is 0 to 100
  std::string heading;  ///< for a table: "shared loads / request"
  std::string description;
  double scale = 1;
  std::vector<Term> numerator, denominator;
  std::string undefined;          ///< the reason when the denominator is 0: "no requests"
  bool is_better_higher = false;  ///< an efficiency, a rate; of the others less is better
  bool is_timed = false;          ///< from the timing: its terms are no counters
  bool is_resource = false;       ///< from the kernel's code and the launch's geometry: likewise

  bool has_counters() const { return !is_timed && !is_resource; }
  std::vector<std::string> counters() const;  ///< that it is derived from; it may have none
};

struct SetInfo {
  std::string name;  ///< "default": written @default
  std::string description;
  std::vector<std::string> metrics;    ///< metrics and counters
  std::vector<std::string> where_any;  ///< more counters, measured too; shown where not zero
};

class Catalogue {
 public:
  /// The embedded catalogue; parsed once.
  static const Catalogue& get();

  std::span<const CounterInfo> counters() const { return counters_; }
  std::span<const MetricInfo> metrics() const { return metrics_; }
  std::span<const SetInfo> sets() const { return sets_; }
  const SetInfo* find_set(std::string_view name) const;  ///< without its @
  const CounterInfo* find_counter(std::string_view name) const;
  const MetricInfo* find_metric(std::string_view name) const;
  /// True for a PerfWorks name that a counter is read by, on some chip.
  bool reads(std::string_view perfworks) const;

  /// The name that the catalogue has for a metric or event of nvprof ("warps_launched" is
  /// "unique_warps_launched" here); the same name where there is nothing to translate.
  std::string own_name(const std::string& name) const;
  /// "; did you mean a, b or c?" or "" for a name of no metric, counter or set.
  std::string suggestion(std::string_view name) const;

  /// Counters that answer a request: catalogue metrics, counters, @sets, and raw PerfWorks names
  /// (anything with "__" in it, passed through). Sorted as in the catalogue, each once. Throws
  /// Error{usage} for an unknown name, with the nearest ones, and for one of nvprof's that no
  /// counter holds, with what to ask instead.
  std::vector<std::string> counters_for(std::span<const std::string> requested) const;
  /// True if one of these, or a member of a set among them, is a resource.
  bool names_resource(std::span<const std::string> requested) const;

 private:
  Catalogue();
  void read_set(const SetInfo& set, std::span<const std::string> members);

  std::vector<CounterInfo> counters_;
  std::vector<MetricInfo> metrics_;
  ByName<CounterInfo> counter_named_;  ///< once all are there, as the next
  ByName<MetricInfo> metric_named_;
  std::vector<SetInfo> sets_;
};

}  // namespace warpmeter::schema

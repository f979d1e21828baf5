// SPDX-License-Identifier: MIT
// The cycles of a multiprocessor that a launch needs from each resource: its counts over the rates
// that NVIDIA documents, however many multiprocessors share them. Units whose work has no count
// have the share of their peak that the hardware measured, times the cycles of the launch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/cards.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::reports::limits {

/// A resource of a launch: the counters whose sum it serves and at what rate, or the metric that is
/// the share of its peak over the whole launch, in per cent.
struct Resource {
  const char *name, *heading;
  const char* unit = "";
  double Rates::*rate = nullptr;
  std::vector<const char*> counters;  ///< empty where no count is known
  const char* share = nullptr;        ///< it counts where no counter has a value
  bool is_memory = false;             ///< shared memory, L1 or the units before them

  /// True if no limit is named without it: a count of it is always to be had.
  bool is_required() const { return share == nullptr; }
};

const std::vector<Resource>& resources();

/// They hold what moves between L1 and the registers.
const std::vector<const char*>& l1_sector_counters();

/// The sum of figures: the weakest grade of its parts; no value where one of them has none.
struct Sum {
  double value = 0;
  std::string mark;
  std::string missing;        ///< why it has no value; empty where it has one
  bool is_uncounted = false;  ///< true if it has no value because nobody asked for it
};

Sum sum_of(const Subject& subject, const std::vector<const char*>& counters);

/// The value with its mark, or why there is none.
Cell cell_of(const Sum& sum);

/// Values of `doctor --peaks`, by name as in the view `peaks`.
using Peaks = std::map<std::string, double>;

/// The facts about a launch beyond its figures.
struct LaunchFacts {
  std::string device;
  bool is_model = false;
  int compute_capability = 0;
  const Rates* rates = nullptr;  ///< nullptr where nobody listed them
  const CardPeaks* card = nullptr;
  std::optional<double> useful_bytes;
  std::optional<double> occupancy;     ///< the theoretical one, in per cent
  std::string occupancy_limiter;       ///< "registers"; or why there is none
  std::shared_ptr<const Peaks> peaks;  ///< this card's; never null
};

/// By launch. All are of this run.
std::map<std::int64_t, LaunchFacts> facts_of(const schema::Reader& reader, std::int64_t run,
                                             const std::vector<std::int64_t>& launches);

/// Cycles that a resource needs, summed over the multiprocessors.
struct Need {
  std::string column;          ///< its name in the table of shares
  std::string name, evidence;  ///< as a reader sees them
  Sum cycles;
  bool is_measured = false;          ///< the share of a peak, not a count over a rate
  bool is_memory = false;            ///< device memory too
  double count = 0;                  ///< in `unit`, at `rate` a cycle; 0 where it is measured
  std::string unit = {}, rate = {};  ///< "wavefronts", "1"

  /// "1,024 wavefronts", "1 operation of threads"
  std::string amount() const;
};

struct Limits {
  const Group* group = nullptr;
  const Subject* subject = nullptr;
  const LaunchFacts* facts = nullptr;
  std::vector<Need> needs;  ///< one a resource, then device memory
  Sum elapsed;              ///< cycles of the launch, summed over the multiprocessors
};

/// "transpose/naive"
std::string name_of(const Limits& limits);
Cell size_of(const Group& group);

/// The sum of the first required resource without a count: nobody knows then what limits. Its
/// `missing` is empty where all have one.
Sum missing_count(const Subject& subject, int capability);

/// The launch must have all counts and rates. Device memory may have no count.
Limits limits_of(const Group& group, const Subject& subject, const LaunchFacts& facts);

/// The counters of all resources, without those of instructions that came after the GPU.
std::vector<const char*> counters_of_limits(int capability);

/// The resources without a count in any of the launches, which may need more: "L2" once, of its
/// parts.
std::vector<std::string> uncounted_resources(const std::vector<const Limits*>& all);

/// The need of a resource by its `column`.
const Need& need_named(const Limits& limits, std::string_view column);

/// The need of the most cycles.
const Need& most_of(const Limits& limits);

/// The need of the next most cycles; nullptr where there is none.
const Need* second_of(const Limits& limits);

/// The name of the resource, or why nobody knows what limits.
Cell limit_of(const Limits& limits);

/// The operations of the tensor cores on all types that were counted; nothing where none was.
std::optional<double> tensor_operations(const Subject& subject);

}  // namespace warpmeter::reports::limits

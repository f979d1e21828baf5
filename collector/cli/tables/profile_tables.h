// SPDX-License-Identifier: MIT
// nvprof's two tables: where the time went, and the metrics of each kernel.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collector/profile/recorder.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::cli {

enum class KernelNameBase {
  function,   ///< "reduce"
  demangled,  ///< "void foo::reduce<4>(float*)"
  mangled,    ///< as the machine code has it
};

std::string shown_name(const std::string& kernel, KernelNameBase base);

/// The names of a table's kernels: where several share a bare name, as much more as tells them
/// apart.
class ShownNames {
 public:
  ShownNames(const std::set<std::string>& kernels, KernelNameBase base);
  std::string of(const std::string& kernel) const;

 private:
  KernelNameBase base_;
  std::map<std::string, std::string> distinct_;
};

/// A column of texts that are numbers.
reports::Column right_column(const char* heading);

/// nvprof's way with durations, five digits: "1.2480us", "214.52ms".
std::string duration_text(double duration_ns);

/// GPU activities, then API calls; of each the longest first, with its share of its part's time.
std::string summary_table(std::vector<profile::Activity> activities, KernelNameBase base);

/// The same for programs: times in ns, one row an activity.
reports::Table summary_rows(std::vector<profile::Activity> activities, KernelNameBase base);

/// A shown column: a metric, counter or PerfWorks name.
struct ShownMetric {
  std::string name;
  bool where_any = false;  ///< only where it is not zero: nobody named it, see schema::SetInfo
};

/// The columns of metrics, counters, sets and PerfWorks names, each once, in the request's order.
std::vector<ShownMetric> shown_metrics(std::span<const std::string> requested);

/// A block a kernel: invocations with a value, and its least, greatest and mean.
std::string metrics_table(const schema::Reader& reader, std::int64_t run_id,
                          std::span<const ShownMetric> metrics, KernelNameBase base);

/// The same for programs: one row a kernel and metric.
reports::Table metrics_rows(const schema::Reader& reader, std::int64_t run_id,
                            std::span<const ShownMetric> metrics, KernelNameBase base);

}  // namespace warpmeter::cli

// SPDX-License-Identifier: MIT
// The metrics of a run summed up by kernel, for the tables of `profile`. All launches are read in
// one pass (schema/figures): there may be a million.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/cli/tables/profile_tables.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// One metric over the launches of a kernel.
struct MetricSum {
  bool is_known = false;     ///< some launch has it, perhaps without a value
  std::uint64_t values = 0;  ///< launches with a value
  double least = 0, greatest = 0, sum = 0;
  std::string reason;  ///< why there is no value, or why its grade is no better; else empty
  std::string doubt;   ///< the second of these
  /// Half of the widest 95 % interval of its estimates; nullopt: none is one.
  std::optional<double> error;

  double mean() const { return sum / static_cast<double>(values); }
  bool is_shown(const ShownMetric& metric) const {
    return is_known && !(metric.where_any && greatest == 0);
  }
  /// The value of so many launches.
  void add(double value, std::uint64_t launches);
  /// The last of several reasons, in the order of the alphabet, stands for all.
  void explain(const std::string& why, bool has_value);
};

/// The launches of a kernel on one device within one NVTX range.
struct KernelMetrics {
  std::string device, kernel, range;  ///< the device's title; the entry; empty without a range
  std::vector<MetricSum> sums;        ///< one a metric
};

/// In the order of the kernels' first launches. Launches that failed have no figures.
std::vector<KernelMetrics> metrics_of_kernels(const schema::Reader& reader, std::int64_t run_id,
                                              std::span<const ShownMetric> metrics);

}  // namespace warpmeter::cli

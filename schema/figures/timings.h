// SPDX-License-Identifier: MIT
// The timings of the launches of a run, with the metrics that follow from them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/catalogue.h"
#include "schema/figures/kinds.h"
#include "schema/store.h"

namespace warpmeter::schema {

/// The timing of a launch that is done.
struct Timed {
  std::size_t launch = 0;  ///< its place in LaunchKinds::ids
  double median_ns = 0;
  std::optional<double> confidence;               ///< nullopt for a single sample
  std::span<const std::optional<double>> values;  ///< as Timings::metrics()
};

/// Reads them a part at a time.
class Timings {
 public:
  Timings(const Reader& reader, const LaunchKinds& kinds);

  /// The metrics of timings.
  std::span<const MetricInfo* const> metrics() const { return metrics_; }
  /// Reads those of the launches from one place up to another one.
  void read(std::size_t first, std::size_t end);
  /// That of a launch of the part; nullptr without one. Launches ascend from call to call.
  const Timed* of(std::size_t launch);

 private:
  const Reader& reader_;
  const LaunchKinds& kinds_;
  bool are_there_ = false;
  std::vector<const MetricInfo*> metrics_;
  std::string sql_;
  std::vector<Timed> timed_;                   ///< those of the part
  std::vector<std::optional<double>> values_;  ///< theirs
  std::size_t next_ = 0;
};

}  // namespace warpmeter::schema

// SPDX-License-Identifier: MIT
// The metrics and events of an nvprof file as counters of launches. nvprof stored a metric's result
// and not the counters below it, so a value goes under the metric's own name. For this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/nvprof_file/source.h"
#include "schema/records.h"

namespace warpmeter::schema {

class NvprofValues {
 public:
  /// Reads all of them, which takes as much memory as they take in the file.
  explicit NvprofValues(const NvprofSource& source);

  /// The values of the launch with this correlation, each name once; empty where there are none.
  std::vector<Counter> of(std::int64_t correlation);
  /// The units of the names that of() gave, where they have one.
  const std::map<std::string, std::string>& units() const { return units_; }

 private:
  struct Stored {
    bool is_event = false, is_instance = false;
    std::int64_t id = 0, flags = 0;
    double event = 0;             ///< the sum over the instances
    std::uint64_t bits = 0;       ///< a metric's
    std::size_t bytes_given = 8;  ///< a metric's: any other number is a fault
  };
  void read_metrics(const NvprofSource& source, const char* table, bool is_instance);
  void read_events(const NvprofSource& source, const char* table);
  Counter metric_counter(const Stored& stored);
  static Counter event_counter(const Stored& stored);

  std::unordered_map<std::int64_t, std::vector<Stored>> stored_;
  std::map<std::string, std::string> units_;
};

}  // namespace warpmeter::schema

// SPDX-License-Identifier: MIT
// The activities of an nvprof file for the view `activities`: kernels, copies, sets, API calls,
// NVTX ranges, page faults and migrations. For this folder only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "schema/nvprof_file/source.h"
#include "schema/store.h"

namespace warpmeter::schema {

class NvprofActivities {
 public:
  struct Target {
    Store* store = nullptr;
    std::int64_t run_id = 0;
    std::int64_t clock_ns = 0;  ///< the time in the file at which the run's clock begins
    std::function<std::int64_t(std::int64_t ordinal)> device_id;
    std::function<void()> check_cancelled;
  };
  NvprofActivities(NvprofSource& source, Target target);

  /// Throws Error{file} for a row that nvprof never wrote.
  void read();

 private:
  void read_kernels(std::string_view table);
  void read_copies(std::string_view table);
  void read_sets();
  void read_calls(std::string_view table, bool is_runtime);
  void read_markers();
  void read_managed();

  Activity between(std::int64_t start, std::int64_t end) const;
  /// The times of columns 0 and 1, with the bytes of a copy or a set and the correlation behind it.
  Activity moved(const Statement& row, int bytes) const;
  /// The columns deviceId, contextId and streamId from `first` on.
  void place_on_device(ActivityShape& shape, const Statement& row, int first) const;
  void add(const ActivityShape& shape, Activity activity);
  void store_waiting();

  NvprofSource& source_;
  Target target_;
  std::int64_t process_id_ = 0;  ///< the only process of the file, else 0
  std::map<std::string, std::uint32_t> shapes_;
  ActivityBatch waiting_;
  std::int64_t next_id_ = 1;
};

}  // namespace warpmeter::schema

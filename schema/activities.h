// SPDX-License-Identifier: MIT
// The activities of a traced program, for the store: what many have in common, stored once, and
// each of them. The view `activities` joins the two.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct sqlite3;

namespace warpmeter::schema {

/// Absent values are nullopt, absent texts empty.
struct ActivityShape {
  std::string kind;  ///< "kernel", "copy", …, as the view says
  std::string name, symbol;
  std::int64_t process_id = 0;
  std::optional<std::int64_t> thread_id, device_id, context, stream;
  std::optional<std::array<std::uint32_t, 3>> grid, block;
  std::optional<std::int64_t> registers, static_shared_bytes, dynamic_shared_bytes;
  std::string source_memory, target_memory;
  std::optional<std::int64_t> source_device, source_context, target_device, target_context;
};

struct Activity {
  std::uint32_t shape = 0;  ///< the number of its ActivityShape in the run
  std::optional<std::int64_t> start_ns, duration_ns, bytes, faults, correlation, address;
};

struct ActivityBatch {
  std::vector<std::pair<std::uint32_t, ActivityShape>> shapes;  ///< new ones, with their numbers
  std::vector<Activity> activities;
  std::int64_t first_id = 1;  ///< the activity_id of the first one; the others follow it

  bool empty() const { return shapes.empty() && activities.empty(); }
};

/// Writes batches, within a transaction of the caller. Throws Error{file}.
class ActivityWriter {
 public:
  explicit ActivityWriter(sqlite3* db);
  ~ActivityWriter();
  void write(std::int64_t run_id, const ActivityBatch& batch);

 private:
  struct Statements;
  std::unique_ptr<Statements> statements_;
};

}  // namespace warpmeter::schema

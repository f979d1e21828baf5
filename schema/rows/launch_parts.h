// SPDX-License-Identifier: MIT
// Rows that belong to a launch, besides its own (launch_rows.h), its counters and its explanation.
#pragma once

#include <cstdint>
#include <span>

#include "schema/records.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {

/// Each function adds rows of the launch with number `id`.
class LaunchParts {
 public:
  explicit LaunchParts(sqlite3* db);

  void add_timing(std::int64_t id, const Timing& record);
  void add_expectations(std::int64_t id, const Launch& record);
  void add_lines(std::int64_t id, std::span<const Line> lines);
  void add_stalls(std::int64_t id, std::span<const Stall> stalls);
  void add_instructions(std::int64_t id, std::span<const InstructionCount> counts);
  void add_power(std::int64_t id, std::span<const PowerSample> samples);

 private:
  Statement timing_, sample_, expectation_, line_, stall_, instruction_, power_;
};

}  // namespace warpmeter::schema

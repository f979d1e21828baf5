// SPDX-License-Identifier: MIT
#include "schema/rows/launch_parts.h"

#include "base/statistics.h"

namespace warpmeter::schema {

LaunchParts::LaunchParts(sqlite3* db)
    : timing_(db, insertion("t_timing",
                            "launch_id, cache, samples, median_ns, min_ns, mean_ns, stddev_ns, "
                            "relative_confidence, stopped_by")),
      sample_(db, insertion("t_sample", "launch_id, sample, duration_ns")),
      expectation_(db, insertion("t_expectation",
                                 "launch_id, expectation, metric, relation, expected, reason")),
      line_(db,
            insertion("t_line",
                      "launch_id, entry, file, line, text, access, requests, transactions, ideal, "
                      "grade, bytes")),
      stall_(db,
             insertion("t_stall", "launch_id, file, line, reason, text, samples, idle_samples")),
      instruction_(db, insertion("t_instruction", "launch_id, address, what, count")),
      power_(db, insertion("t_power_sample",
                           "launch_id, sample, time_s, power_w, sm_clock_mhz, temperature_c")) {}

void LaunchParts::add_timing(std::int64_t id, const Timing& record) {
  const Statistics statistics = statistics_of(record.samples_ns);
  timing_.execute(id, record.cache == CacheState::cold ? "cold" : "warm", record.samples_ns.size(),
                  statistics.median, statistics.min, statistics.mean, statistics.stddev,
                  record.relative_confidence, record.stopped_by);
  std::int64_t number = 0;
  for (const double sample_ns : record.samples_ns) sample_.execute(id, ++number, sample_ns);
}

void LaunchParts::add_expectations(std::int64_t id, const Launch& record) {
  std::int64_t number = 0;
  for (const Expectation& e : record.expectations) {
    expectation_.execute(id, ++number, e.metric, e.relation, e.value, e.reason);
  }
}

void LaunchParts::add_lines(std::int64_t id, std::span<const Line> lines) {
  std::int64_t number = 0;
  for (const Line& l : lines) {
    line_.execute(id, ++number, l.file, l.line, l.text, l.access, l.requests, l.transactions,
                  l.ideal, l.grade, l.bytes);
  }
}

void LaunchParts::add_stalls(std::int64_t id, std::span<const Stall> stalls) {
  for (const Stall& s : stalls) {
    stall_.execute(id, s.file, s.line, s.reason, s.text, s.samples, s.idle_samples);
  }
}

void LaunchParts::add_instructions(std::int64_t id, std::span<const InstructionCount> counts) {
  for (const InstructionCount& one : counts) {
    instruction_.execute(id, static_cast<std::int64_t>(one.address), one.what, one.count);
  }
}

void LaunchParts::add_power(std::int64_t id, std::span<const PowerSample> samples) {
  std::int64_t number = 0;
  for (const PowerSample& s : samples) {
    power_.execute(id, ++number, s.time_s, s.power_w, s.sm_clock_mhz, s.temperature_c);
  }
}

}  // namespace warpmeter::schema

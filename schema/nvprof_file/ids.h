// SPDX-License-Identifier: MIT
// The names behind the numbers in nvprof's files (ids.txt). For this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpmeter::schema {

/// How the 8 bytes of a metric's value are read (CUpti_MetricValueKind).
enum class NvprofForm { ratio, count, percent, bytes_per_second, level };

struct NvprofMetricId {
  std::string_view name;
  NvprofForm form = NvprofForm::count;
};

/// nullopt for a number that no chip has.
std::optional<NvprofMetricId> nvprof_metric(std::int64_t id);
/// The event's name; empty for a number that no chip has.
std::string_view nvprof_event(std::int64_t id);

/// The number of a metric on the newest chip that has it.
struct NvprofMetricNumber {
  std::int64_t id = 0;
  NvprofForm form = NvprofForm::count;
};
std::optional<NvprofMetricNumber> nvprof_metric_number(std::string_view name);
/// The number of an event on the newest chip that has it.
std::optional<std::int64_t> nvprof_event_number(std::string_view name);

}  // namespace warpmeter::schema

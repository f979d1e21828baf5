// SPDX-License-Identifier: MIT
// The names behind the numbers in nvprof's files (ids.txt). For this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "schema/nvprof_names.h"

namespace warpmeter::schema {

struct NvprofMetricId {
  std::string_view name;
  NvprofForm form =
      NvprofForm::count;  ///< how its value's 8 bytes are read (CUpti_MetricValueKind)
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

// SPDX-License-Identifier: MIT
// The names behind the numbers in nvprof's files (ids.txt, calls.txt). For this folder only.
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
/// A function of CUDA's API as the files name it: its table and its number there.
struct NvprofCall {
  bool is_runtime = false;
  std::int64_t number = 0;  ///< 0 is nvprof's own for a function that it does not know
};
/// The newest version of a function; "cudaMalloc" and "cudaMalloc_v3020" are the same.
NvprofCall nvprof_call_number(std::string_view function);
/// The function's name; empty for a number that none has.
std::string_view nvprof_call(const NvprofCall& call);

/// The number of an event on the newest chip that has it.
std::optional<std::int64_t> nvprof_event_number(std::string_view name);

}  // namespace warpmeter::schema

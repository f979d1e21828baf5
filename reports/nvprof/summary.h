// SPDX-License-Identifier: MIT
// nvprof's summary: for each kernel, copy and function its share of the time, its calls, and their
// mean, least and greatest duration.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/nvprof/units.h"

namespace warpmeter::reports::nvprof {

/// The form of what is printed.
struct Style {
  bool csv = false;
  TimeUnit unit = TimeUnit::automatic;
};

/// The names that a person, or the program by NVTX, gave contexts and streams of a process. An
/// empty text is no name, an empty function knows none.
struct ResourceNames {
  std::function<std::string(std::int64_t process, std::int64_t context)> context;
  std::function<std::string(std::int64_t process, std::int64_t context, std::int64_t stream)>
      stream;
};

struct SummaryRow {
  std::string name;
  std::uint64_t calls = 0;
  std::optional<double> total_ns;  ///< without a clock there is none
  double least_ns = 0, greatest_ns = 0;
};

struct SummaryPart {
  std::string_view type;  ///< "GPU activities"
  std::string_view none;  ///< the line that is printed where it has no rows
  std::vector<SummaryRow> rows;
};

inline constexpr std::string_view gpu_part = "GPU activities", call_part = "API calls",
                                  no_kernels = "No kernels were profiled.",
                                  no_calls = "No API activities were profiled.";

/// The rows that took longest come first; those without a time stay in their order.
std::string summary_text(std::vector<SummaryPart> parts, const Style& style);

}  // namespace warpmeter::reports::nvprof

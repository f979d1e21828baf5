// SPDX-License-Identifier: MIT
// The most that cards were measured to do: facts about a device, of no run.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "schema/records.h"

namespace warpmeter::schema {

/// The most that a card was measured to do of one thing.
struct Peak {
  std::string name;  ///< "device_memory_copy", "fp32", "tensor_fp8" (views/peaks.sql has them all)
  std::string unit;  ///< "GB/s", "TFLOP/s", "TOP/s"
  std::optional<double> value;
  std::optional<double> sm_clock_mhz;  ///< right after
  std::string reason;                  ///< why it was not measured
};

/// Stores peaks with their device, in place of those of the same names. One transaction; the
/// database is created as needed.
void store_peaks(const std::string& path, const Device& device, std::span<const Peak> peaks);

}  // namespace warpmeter::schema

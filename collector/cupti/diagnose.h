// SPDX-License-Identifier: MIT
// The state of this machine, and how to mend what does not: the hardware half of `doctor`.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "schema/records.h"

namespace warpmeter::cupti {

struct Finding {
  std::string name;  ///< "driver", "CUPTI", "device 0", "counters", "NVML", "MIG", "neighbours"
  bool ok = false;
  std::string detail;                 ///< the finding
  std::string remedy;                 ///< the next step; empty when ok
  const char* otherwise = "missing";  ///< its name when it is not ok, in seven columns
};

/// Who else is on a card, and what on this machine reads counters or shares cards.
Finding neighbours_finding(const schema::DeviceState& state);

/// Looks at driver, CUPTI, NVML, each device and its permission to count, in this order. Takes the
/// counters for a moment to be sure. Never throws and never crashes, driver or not.
std::vector<Finding> diagnose();

/// RmProfilingAdminOnly of /proc/driver/nvidia/params: whether counters are for administrators
/// only; nullopt where the text does not say.
std::optional<bool> counters_for_admins_only(std::istream& params);

/// Why this process may not read counters, as far as can be told without trying: administrators
/// only (`params` as above), and no capability of one in /proc/self/status. Empty when nothing
/// speaks against it.
std::string counters_refusal(std::istream& params, std::istream& status);
/// By the files of this machine.
std::string counters_refusal();

}  // namespace warpmeter::cupti

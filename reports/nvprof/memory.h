// SPDX-License-Identifier: MIT
// nvprof's table of managed memory: for each device the bytes that migrated to it and back, and the
// page faults.
#pragma once

#include <cstdint>
#include <string>

#include "schema/store.h"

namespace warpmeter::reports::nvprof {

/// Empty where the process had neither.
std::string managed_text(const schema::Reader& reader, std::int64_t run_id,
                         std::int64_t process_id);

}  // namespace warpmeter::reports::nvprof

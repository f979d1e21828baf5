// SPDX-License-Identifier: MIT
// The record of a run of this process: the program it was built as, the machine it is on.
#pragma once

#include <string>

#include "schema/records.h"

namespace warpmeter::cli {

/// `command`: as it can be pasted into a shell; `label`: the user's, or empty.
schema::Run run_record(std::string backend, std::string command, std::string label);

}  // namespace warpmeter::cli

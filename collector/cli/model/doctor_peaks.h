// SPDX-License-Identifier: MIT
// `warpmeter doctor --peaks`: the most that a card is measured to do, stored with the device.
#pragma once

#include <string>

#include "base/error.h"

namespace warpmeter::cli {

/// Measures, stores and prints. `device`: the GPU's number. Throws Error{no_hardware} without one.
ExitCode run_peaks(const std::string& database, int device);

}  // namespace warpmeter::cli

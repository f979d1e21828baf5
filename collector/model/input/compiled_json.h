// SPDX-License-Identifier: MIT
// A compilation's result as a value that can be kept, or handed from one process to another.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "collector/model/input/nvrtc.h"

namespace warpmeter::model {

nlohmann::json json_of(const Compiled& compiled);

/// Throws nlohmann::json::exception where it is none.
Compiled compiled_of(const nlohmann::json& value);

}  // namespace warpmeter::model

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace warpmeter {

/// The name of this machine; empty when it has none.
std::string host_name();

}  // namespace warpmeter

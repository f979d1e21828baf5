#pragma once

#include <string>

namespace warpmeter {

/// Of this machine; empty when it has none.
std::string host_name();

}  // namespace warpmeter

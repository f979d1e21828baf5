// SPDX-License-Identifier: MIT
// --shape, of run and profile: said when the run is stored, since only then it is known
// which arrays its kernels had.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace warpmeter::cli {

/// `shaped`: see model::explain::Options. Throws
/// Error{usage} for a shape that fits no kernel.
void check_shapes(std::span<const std::string> shapes,
                  const std::map<std::string, std::string>& shaped, std::int64_t run_id);

}  // namespace warpmeter::cli

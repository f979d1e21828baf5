// SPDX-License-Identifier: MIT
// The file of --trace-out.
#pragma once

#include <cstdint>
#include <string>

#include "base/file_claims.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// Writes the activities of a run as a Perfetto trace. The text names the file, how many it has and
/// what to do with it. Throws Error{nothing} where none has a time, Error{file} where the file
/// cannot be written.
std::string write_trace_file(const schema::Reader& reader, std::int64_t run_id,
                             const Destination& destination);

}  // namespace warpmeter::cli

// SPDX-License-Identifier: MIT
// A trace as ui.perfetto.dev and trace_processor read it: Perfetto's protobuf messages
// (https://perfetto.dev/docs/reference/trace-packet-proto), written by Mapbox's protozero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "schema/store.h"

namespace warpmeter::reports {

struct PerfettoWritten {
  std::size_t slices = 0;   ///< activities in the file
  std::size_t untimed = 0;  ///< activities that have no time and are left out
};

/// Writes the activities of a run: a track a stream below its device, a track a thread below its
/// process; a call and the work that it gave a device are joined by a flow. Throws Error{nothing}
/// where no activity has a time, before it writes.
PerfettoWritten write_perfetto(const schema::Reader& reader, std::int64_t run_id,
                               const std::function<bool(std::string_view)>& sink);

}  // namespace warpmeter::reports

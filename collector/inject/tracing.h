// SPDX-License-Identifier: MIT
// Activity mode: when kernels, copies, sets and API calls began and how long they took, from
// CUPTI's activity records.
#pragma once

#include <cstdint>

#include "collector/cupti/library.h"
#include "collector/inject/channel.h"
#include "collector/inject/filter.h"

namespace warpmeter::inject::tracing {

/// Records from now on, for the rest of the process. CUPTI asks for buffers by functions without an
/// argument, so there is one recording a process. Throws Error{no_hardware}.
void start(Channel& channel, const cupti::CuptiApi& api, const Config& config);

/// A context was made, so that the driver can be asked for events of managed memory.
void context_made();

/// The program called cudaProfilerStart or cudaProfilerStop: records begin or end.
void profile(bool is_on);

/// Before a launch: the NVTX ranges that are open are those of its kernels. Needed only when the
/// selection has ranges. CUPTI gives the call of the driver and its kernels one correlation.
void launching(std::uint32_t correlation);

/// After a call in which the program waited for the GPU: what has ended is sent, unless that was
/// done a moment ago. A crash then loses next to nothing.
void after_waiting();

/// Sends what is left.
void finish();

}  // namespace warpmeter::inject::tracing

// SPDX-License-Identifier: MIT
// A traced run of any length: two processes, each with a device, two streams, a thread that calls
// the API, and ranges. It is made up, but for its shape: kernels of 5 to 20 µs that calls of 3 µs
// launch, as in the training of a small network.
#pragma once

#include <cstdint>

#include "schema/store.h"

namespace warpmeter::reports {

/// `activities`: how many it has, at least 100.
std::int64_t add_traced_run(schema::Store& store, std::int64_t activities);

}  // namespace warpmeter::reports

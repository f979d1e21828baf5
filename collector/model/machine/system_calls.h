// SPDX-License-Identifier: MIT
// The functions of the driver that a kernel can call: printf, assert, malloc and free. The units of
// execute/ call these; each serves the lanes of the mask in turn.
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// vprintf: a is the row of the formats' addresses, b that of the arguments', d takes how many
/// arguments were printed, as on the hardware, or -1 for an address that leads nowhere.
void print(Warp& w, const Operation* op, std::uint32_t mask);

/// __assertfail: keeps what the first lane says for the trap's message. a: the expression, b: the
/// file, c: the line, e: the function.
void note_assertion(Warp& w, const Operation* op, std::uint32_t mask);

/// malloc out of a heap of limited size (DeviceMemory::Heap): d takes the addresses, 0 where
/// nothing is left.
void allocate(Warp& w, const Operation* op, std::uint32_t mask);
void deallocate(Warp& w, const Operation* op, std::uint32_t mask);

/// Executes the program's device_calls[op->extra] (see device_calls.h): d takes the results. A
/// launch without a DeviceRuntime gets cudaErrorNotSupported.
void call_device_runtime(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model

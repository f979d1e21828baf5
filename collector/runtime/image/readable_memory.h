// SPDX-License-Identifier: MIT
// How far memory of this process can be read. Images that a program registers or loads come as a
// pointer alone; the sizes in them are believed up to the end of what is mapped.
#pragma once

#include "base/bytes.h"

namespace warpmeter::runtime {

/// The bytes from `address` to the end of the readable memory around it; empty where it cannot be
/// read.
Bytes readable_from(const void* address);

}  // namespace warpmeter::runtime

// SPDX-License-Identifier: MIT
// The limits of devices, by their architectures: NVIDIA's tables of compute capabilities.
// schema/derived/v_occupancy.sql holds the same for devices of every backend; a test compares them.
#pragma once

#include <cstdint>
#include <optional>

namespace warpmeter::model {

struct DeviceLimits {
  int arch = 0;
  int multiprocessors = 0;  ///< the multiprocessors of the large device of it
  std::uint32_t shared_of_multiprocessor = 0, shared_of_block = 0;  ///< bytes
  int threads_of_multiprocessor = 0, blocks_of_multiprocessor = 0;
};

/// The limits of an architecture; one that is not in the table has those of the last before it.
const DeviceLimits& device_limits(int arch);

/// In which steps blocks are given shared memory, in bytes. A block reaches the end of its last
/// one: measured on an H100 (driver 580.159).
std::uint32_t shared_step(int arch);

/// The resources of a block on a multiprocessor.
struct BlockNeeds {
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;
  std::optional<std::int64_t> registers;  ///< a thread; unknown: no limit
};

/// How many such blocks a multiprocessor holds at a time; registers are given to warps by 256,
/// shared memory to blocks by shared_step() and 1,024 for the system (none before sm_80).
int blocks_at_a_time(const DeviceLimits& limits, const BlockNeeds& needs);

/// The most threads of a block whose threads take so many registers: a block's warps are dealt out
/// to the four quarters of a multiprocessor, of 16,384 registers each.
std::uint32_t most_threads_of_block(std::int64_t registers);

}  // namespace warpmeter::model

// SPDX-License-Identifier: MIT
// The memory that the warps of one worker thread reach, and what their accesses have cost so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/machine/memory/block_trace.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/memory/zeroed_bytes.h"
#include "collector/model/machine/native/code.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"
#include "collector/model/machine/windows.h"

namespace warpmeter::model {

/// Global memory, and the shared memory of other blocks, are counted in sectors.
constexpr bool counts_sectors(AddressSpace space) {
  return space == AddressSpace::global || space == AddressSpace::cluster;
}

/// The counts of one site in one space.
struct AccessCounts {
  std::uint64_t requests = 0;      ///< warp instructions with an active lane
  std::uint64_t transactions = 0;  ///< wavefronts of shared, sectors of global memory
  std::uint64_t bytes = 0;  ///< the bytes of global memory: distinct ones of each request, added up
  std::uint64_t ideal = 0;  ///< the fewest transactions for the same requests
  std::uint64_t empty =
      0;  ///< executions of cp.async without a byte in any lane: no requests of L1

  AccessCounts& operator+=(const AccessCounts& other);
  bool operator==(const AccessCounts& other) const = default;
};

/// A site may be generic and meet both spaces; local, constant and parameter memory is not counted.
struct SiteCounts {
  AccessCounts shared, global;
  AccessCounts cluster;         ///< shared memory of other blocks
  bool is_approximate = false;  ///< some access to shared memory was of a kind not calibrated
  bool by_several = false;      ///< some access was of more than one lane
  AccessCounts loop_loads;      ///< the loop loads of shared memory, by an atomic that is a loop
  bool has_strayed = false;    ///< into memory beside an allocation, which hardware does not notice
  bool on_heap = false;        ///< global memory that a kernel took with malloc
  bool reaches_ended = false;  ///< shared memory of a block of the cluster that has ended

  bool operator==(const SiteCounts& other) const = default;
};
/// The part of a site's counts that is a space's.
constexpr AccessCounts SiteCounts::*counts_of(AddressSpace space) {
  return space == AddressSpace::shared    ? &SiteCounts::shared
         : space == AddressSpace::cluster ? &SiteCounts::cluster
                                          : &SiteCounts::global;
}

/// The arguments of __assertfail.
struct Assertion {
  std::string expression, file, function;
  std::uint32_t line = 0;
};

class Cluster;
class DeviceRuntime;
struct Textures;
class Footprint;
class BlockObserver;

/// The window in which a site's last accesses were allowed.
struct KnownWindow {
  Window window;               ///< without memory: nothing is known
  std::uint64_t removals = 0;  ///< the removals of allocations, when it was there
};

struct WorkerMemory {
  const Program* program = nullptr;
  DeviceMemory* device = nullptr;
  DeviceRuntime* device_runtime = nullptr;  ///< answers calls of it; null: nobody does
  std::span<const Warp> warps;              ///< the warps of the block that runs
  std::uint64_t block = 0;                  ///< that runs
  BlockObserver* observer = nullptr;        ///< the observer of every access; null: nobody asks
  /// For the observer, by site: the site with the width and parts of the texture it reads.
  std::map<std::uint32_t, SiteInfo> sampled;
  const Textures* textures = nullptr;  ///< by their handles; may be null
  Footprint* footprint =
      nullptr;  ///< the footprint of accesses to what is stored to; null: one thread
  std::vector<std::byte> shared;      ///< for the block that runs, and what hardware has behind it
  std::uint64_t shared_bytes = 0;     ///< the shared bytes of it that are the block's
  bool may_leave_shared = false;      ///< for what lies behind it
  Cluster* cluster = nullptr;         ///< the cluster of the block; null: the program asks for none
  ZeroedBytes local;                  ///< local_bytes of each thread of the block in turn
  std::vector<std::byte> parameters;  ///< the entry's
  std::vector<std::byte> constants;
  std::array<std::byte*, 32> lane_host{};
  std::vector<AsyncCopyMemo> copy_memos;  ///< one for each async copy of the program
  std::vector<Site> sites;  ///< as many as the program has, and one that remembers nothing
  std::span<const LoadGroup> load_groups;  ///< those of the machine code
  std::vector<SiteGroup> groups;           ///< for each of them
  std::uint64_t next_number = 1;           ///< the next number of what a site remembers
  std::vector<SiteCounts> counts;
  /// Where somebody wants to know more than the counts; else null, and empty.
  std::unique_ptr<Recording> recording;
  std::unique_ptr<BlockTrace> trace;
  bool is_traced = false;                          ///< the block that runs
  std::vector<std::vector<std::uint64_t>> places;  ///< hits of sites by their shared offset
  std::vector<std::uint32_t> shapes;  ///< the shapes of each site, that came one after the other
  bool is_counted = true;             ///< false: nobody asks for the counts, which stay zero
  /// For each site: how often in a row what it remembers did not serve again.
  std::vector<std::uint32_t> misses;
  std::vector<KnownWindow> known;               ///< for each site
  std::function<void(std::string_view)> print;  ///< takes what kernels print; empty: standard error
  Assertion assertion;                          ///< that failed
  std::vector<std::uint8_t> parted;  ///< for each instruction: 1 once lanes of a warp parted at it
  /// The exception of a function that machine code called: it is thrown once the warp has stopped.
  std::exception_ptr failure;
};

/// Puts what the site remembers into the counts, and forgets it. The number of its hits; 0 where
/// they are recorded by their places.
std::uint64_t settle(WorkerMemory& memory, std::size_t site);

}  // namespace warpmeter::model

// SPDX-License-Identifier: MIT
// Memory whose contents depend on the order in which threads came to an atomic, from launch to
// launch: a queue that one kernel fills is what another goes by. The code of a kernel says what it
// makes of it (Program::lasting_memory); which allocations that means, when it is launched.
//
// An allocation is one thing: with a part of it all of it depends on the order, until a copy or a
// set covers all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

/// Before a launch: notes in memory what it will leave so. For each site, 1 where its addresses
/// depend on what is so already; empty: none does.
std::vector<std::uint8_t> follow_order(const Program& program,
                                       std::span<const std::byte> parameters, DeviceMemory& memory);

/// The allocations that a launch stores to, as far as the code shows, by address; nullopt: it may
/// be any. A pointer that is made of another allocation's leads elsewhere all the same.
std::optional<std::set<std::uint64_t>> stored_allocations(const Program& program,
                                                          std::span<const std::byte> parameters,
                                                          DeviceMemory& memory);

/// Memory of the host that took a copy of what depends on the order, until another copy covers it:
/// a list that one launch made may go to the next one by that way. The host's own use of it is not
/// seen.
class HostOrder {
 public:
  void note(std::uint64_t address, std::uint64_t bytes, bool is_ordered);
  bool reaches(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::map<std::uint64_t, std::uint64_t>
      ends_;  ///< the ends of stretches that do not meet, by beginning
};

/// After bytes were put there, from another place (`from` 0: from nowhere).
void follow_copy(DeviceMemory& memory, HostOrder& host, std::uint64_t to, std::uint64_t from,
                 std::uint64_t bytes);

}  // namespace warpmeter::model

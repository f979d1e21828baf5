// SPDX-License-Identifier: MIT
// Where an address of an access leads: the stretch of memory around it that the lane may touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// A stretch of addresses that an access may touch.
struct Window {
  AddressSpace space = AddressSpace::global;
  std::uint64_t begin = 0, bytes = 0;
  std::byte* host = nullptr;
  const TouchedWords* touched = nullptr;  ///< to be told of each access
  bool of_ended_block = false;            ///< for the cluster

  bool holds(std::uint64_t address, unsigned width) const {
    const std::uint64_t offset = address - begin;
    return offset < bytes && width <= bytes - offset;
  }
};

/// True for memory that a kernel took with malloc.
inline bool is_on_heap(const Window& window) {
  return window.space == AddressSpace::global && window.begin >= first_of_heap &&
         window.begin < end_of_heap;
}

/// The window that an address of the site's space leads into, in the addresses that the instruction
/// uses: generic ones for a generic access. Empty when it leads nowhere. Local memory is the
/// lane's.
Window window_at(const Warp& w, const SiteInfo& info, std::uint64_t address, unsigned lane);

/// The same of an address beside an allocation, where hardware would not notice. Shared work of
/// side-by-side blocks there is not followed, so they start again in order.
Window slack_at(const Warp& w, std::uint64_t address);

}  // namespace warpmeter::model

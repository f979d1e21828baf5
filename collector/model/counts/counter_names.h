// SPDX-License-Identifier: MIT
// The counters of accesses that the model answers, by their names in the catalogue, and which sites
// of a program each of them holds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collector/model/machine/program.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

/// A counter's part of a site.
struct CounterName {
  std::string_view name;
  AddressSpace space;
  AccessKind kind;
  std::uint64_t AccessCounts::*count;
  Carrier carrier = Carrier::registers;  ///< registers: cp.async's loads as well
  bool only_bypassing = false;           ///< true: leaves out copies of cp.async through L1
};

std::span<const CounterName> counter_names();
const CounterName* find_counter_name(std::string_view name);  ///< null: none

/// Memory that blocks share has one kind of atomic, whether its result is used or not.
AccessKind kind_in(const SiteInfo& site, AddressSpace space);

/// The carrier by whose counters a site is held: a load by cp.async is a load of global memory.
Carrier counter_carrier(const SiteInfo& site);
/// The side of cp.async that writes to shared memory, for which hardware has counters of its own.
inline bool writes_copy(const SiteInfo& site) {
  return site.carrier == Carrier::copy && site.kind == AccessKind::store;
}

/// True if the site's accesses are of the counter's carrier.
bool is_carried(const SiteInfo& site, const CounterName& counter);

/// True if the counter holds accesses that are apart from loads and stores: it is their own.
bool is_of_apart(const SiteInfo& site, const CounterName& counter);

}  // namespace warpmeter::model

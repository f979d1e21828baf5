// SPDX-License-Identifier: MIT
// Who else is on a card, and what else may disturb a time there: processes that compute on it or
// keep memory of it, MPS, MIG, clocks that somebody set, DCGM and others that read its counters.
//
// NVML knows the processes of a card and when each computed last; /proc knows which of them are
// ours. In a container the numbers that NVML tells may be those of the host: this process is then
// not among them though it has a context on the card, and only their number says something.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <vector>

#include "collector/cupti/library.h"
#include "schema/records.h"

namespace warpmeter::cupti {

struct Look {
  const NvmlApi& api;
  nvmlDevice_t device = nullptr;
  bool has_context = false;  ///< this process is on the card itself
  std::filesystem::path proc = "/proc";
  pid_t self = getpid();
};

/// The other processes on the card, each a row: felt where it computed in the last two seconds, or
/// where that is not known. Not those that this process or a child of it started.
std::vector<schema::Disturbance> processes_on(const Look& look);

/// The services on this machine that read counters or share cards: DCGM's engine and exporter, MPS.
std::vector<schema::Disturbance> services_of(const std::filesystem::path& proc = "/proc");

/// Clocks that somebody has set for the card.
std::vector<schema::Disturbance> set_clocks_of(const Look& look);

/// All of these.
std::vector<schema::Disturbance> look_around(const Look& look);

}  // namespace warpmeter::cupti

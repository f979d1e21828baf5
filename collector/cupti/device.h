// SPDX-License-Identifier: MIT
// Which devices there are, and in what state: what the driver and NVML say of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/records.h"

namespace warpmeter::cupti {

/// Every device that the driver shows this process, in its order; empty without a driver.
std::vector<schema::Device> devices();

/// True if there is a driver with a device, as far as that can be told without starting it; where
/// only the driver is, it is asked.
bool has_device();

/// One device. Throws Error{no_hardware} without a driver, and Error{usage} for an ordinal that
/// there is not.
schema::Device describe_device(int ordinal);

/// The same without asking CUPTI and NVML, which take 0.1 s to start: the chip only where the
/// compute capability tells it, and for the driver the CUDA version that it supports. Throws
/// Error{no_hardware}, also for an ordinal that there is not.
schema::Device describe_device_by_driver(int ordinal);

/// "GPU 580.159.04" where NVML tells it, else the CUDA version that the driver supports.
std::string driver_version();

/// True if NVML shows one card, and its compute capability tells the chip: then a process of the
/// program knows as much of the device as we do, and has the same ordinal for it.
bool is_told_by_capability();

/// Clocks, throttle reasons, temperature, power and modes as NVML tells them now, and what may
/// disturb a time (neighbours.h). Facts that NVML does not tell are absent; when it tells nothing,
/// `unavailable` says why. `has_context`: this process is on the card itself.
schema::DeviceState read_state(const std::string& uuid, std::string phase,
                               bool has_context = false);

/// The same of every card that NVML shows, by UUID: takes no driver to be started.
std::map<std::string, schema::DeviceState> read_states(const std::string& phase);

/// True if one of NVML's reasons for lower clocks makes them lower than the card's own.
bool is_slowing(std::uint64_t reasons);

/// NVML's bit set of reasons why clocks are lower than they could be, in words, joined with ", ".
std::string throttle_reasons(std::uint64_t bits);

/// "GPU-6f1d3f2c-…" from the driver's 16 bytes, as nvidia-smi writes it.
std::string format_uuid(const unsigned char (&bytes)[16]);

}  // namespace warpmeter::cupti

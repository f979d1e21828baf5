// SPDX-License-Identifier: MIT
// The energy of a launch, from the counter of the whole card that NVML reads.
//
// The counter moves every 0.1 s on an H200 (driver 580), and to read it takes 4 ms. So a launch is
// repeated without a pause, the mean power is that between two moves a second apart, and a launch's
// energy is (power - idle power) × time. The idle power is that of the card right after, with the
// same clocks and temperature. The card's settings are read and never changed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/records.h"

namespace warpmeter::cupti {

/// True for the catalogue's counters that measure_energy fills.
bool is_energy_counter(std::string_view name);

/// The answers of NVML and of the clock now. NVML may not have one.
struct PowerSource {
  std::function<double()> now_s;
  std::function<std::optional<double>()> energy_j;  ///< since the driver was loaded
  std::function<std::optional<double>()> sm_clock_mhz, temperature_c;
  std::function<void(double seconds)> wait;
};

/// NVML's answers for a card. None for an instance of one that is split: the counter is the
/// whole card's.
PowerSource power_source(const std::string& uuid);

/// The work of a device that is repeated. Batches run in the order in which they were begun.
struct Load {
  std::function<void(std::size_t launches)> begin_batch;
  std::function<std::size_t()> batches_done;
  /// The device's own time at the end of the last batch of batches_done().
  std::function<double()> end_s;
};

/// A card that does the same thing for a while.
struct SteadyPower {
  double mean_w = 0, peak_w = 0;  ///< the peak is that of one move of the counter
  double half_width_w = 0;        ///< the mean's, as moves are seen some ms late
  double launch_s = 0;            ///< the time of a launch; 0: the card was idle
  std::optional<double> sm_clock_mhz, temperature_c;  ///< means
  std::string failure;                                ///< why there is none of it
  std::vector<schema::PowerSample> samples = {};      ///< at each move but the first
};

struct MeasuredEnergy {
  std::vector<schema::Counter> counters;
  std::vector<schema::PowerSample> samples;  ///< while the launch was repeated
};

struct EnergyRule {
  double relative_doubt = 0.005;  ///< the mean power's
  double settle_s = 0.35;         ///< before the first move that counts
  double shortest_s = 1;          ///< between the first move and the last
  double longest_s = 4;
};

/// Watches the counter while `load` is repeated, or while the card is idle (nullptr). `cancelled`
/// ends it with a failure.
SteadyPower watch_power(const PowerSource& source, const Load* load, const EnergyRule& rule,
                        const std::function<bool()>& cancelled);

/// The energy of a launch and what was seen meanwhile, by the names of the catalogue's counters.
/// `restoring`: what the load does besides the launch, which is subtracted; nullptr: nothing.
std::vector<schema::Counter> energy_counters(const SteadyPower& busy, const SteadyPower* restoring,
                                             const SteadyPower& idle);

/// The counters that were asked for, in that order: those of events and those of energy.
std::vector<schema::Counter> in_order(std::span<const std::string> asked_for,
                                      const std::vector<schema::Counter>& events,
                                      const std::vector<schema::Counter>& energy);

}  // namespace warpmeter::cupti

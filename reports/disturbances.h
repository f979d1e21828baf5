// SPDX-License-Identifier: MIT
// The possible disturbances of a run's times: other processes on a card, clocks that were held
// back. Each thing is said once, with when it was seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

struct Disturbance {
  std::int64_t device_id = 0;
  std::string device;    ///< its title
  std::string kind;      ///< as in the view disturbances
  std::string brief;     ///< "python3", "MIG"
  std::string text;      ///< "python3 (process 7) computed on the card (88 % busy), before"
  bool is_felt = false;  ///< it may have moved a time
};

/// Those of each device that may have moved a time first.
std::vector<Disturbance> disturbances_of(const schema::Reader& reader, std::int64_t run);

/// The disturbances that may have moved a time: "python3 (process 7) computed on …, before; … on
/// NVIDIA H200 #1"; empty where there is none.
std::string felt_in_words(const std::vector<Disturbance>& disturbances);

}  // namespace warpmeter::reports

// SPDX-License-Identifier: MIT
// These functions run a case on a backend, and compare two answers to each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/run/backend.h"
#include "tests/device/model/cases.h"

namespace warpmeter::agreement {

/// The counters that both backends must agree on.
const std::vector<std::string>& counter_names();

struct Answer {
  std::string failure;  ///< empty: it ran
  std::vector<std::vector<std::byte>> buffers;
  std::map<std::string, schema::Counter> counters;  ///< by name
};

/// The backend must have selected counter_names().
Answer ask(run::Backend& backend, const Case& which);

/// The part that two runs' buffers must share: a hash of every byte where the outputs are exact,
/// else 0.
std::uint64_t checksum(const Case& which, const Answer& answer);

/// The largest relative difference of any two numbers of the buffers; infinite when a buffer of an
/// exact case differs at all.
double difference(const Case& which, const Answer& one, const Answer& other);

}  // namespace warpmeter::agreement

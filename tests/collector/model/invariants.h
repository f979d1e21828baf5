// SPDX-License-Identifier: MIT
// Rules for the counts of every launch, whatever the kernel does: no figure of a request can be
// more than its transactions have room for, and lines add up to their launch.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/model/counts/grades.h"
#include "schema/records.h"

namespace warpmeter::model {

/// Counters of the model by their names; those without a value are left out.
using CountedValues = std::map<std::string, double>;

/// Bytes fill their sectors at most: no efficiency is above 100 %.
inline void expect_bytes_fit(const CountedValues& counted) {
  for (const std::string kind : {"global_load", "global_store"}) {
    EXPECT_LE(counted.at(kind + "_bytes"), 32 * counted.at(kind + "_sectors")) << kind;
  }
}

/// A request with an active lane takes a sector or a wavefront at least.
inline void expect_requests_fit(const CountedValues& counted) {
  for (const std::string kind :
       {"global_load", "global_store", "global_atomic", "global_reduction"}) {
    EXPECT_LE(counted.at(kind + "_requests"), counted.at(kind + "_sectors")) << kind;
  }
  for (const std::string kind : {"shared_load", "shared_store", "shared_atomic",
                                 "shared_matrix_load", "shared_matrix_store", "shared_wgmma"}) {
    EXPECT_LE(counted.at(kind + "_requests"), counted.at(kind + "_wavefronts")) << kind;
  }
}

/// The lines of each kind of access add up to the launch's counters.
inline void expect_lines_add_up(const CountedValues& counted,
                                const std::vector<schema::Line>& lines) {
  struct Kind {
    const char *access, *counter, *transactions;
  };
  static constexpr std::array<Kind, 9> kinds = {
      {{"global load", "global_load", "sectors"},
       {"global store", "global_store", "sectors"},
       {"global atomic", "global_atomic", "sectors"},
       {"global reduction", "global_reduction", "sectors"},
       {"shared load", "shared_load", "wavefronts"},
       {"shared store", "shared_store", "wavefronts"},
       {"shared atomic", "shared_atomic", "wavefronts"},
       {"shared matrix load", "shared_matrix_load", "wavefronts"},
       {"shared matrix store", "shared_matrix_store", "wavefronts"}}};
  for (const Kind& kind : kinds) {
    double requests = 0, transactions = 0, bytes = 0;
    for (const schema::Line& line : lines) {
      if (line.access != kind.access) continue;
      requests += static_cast<double>(line.requests);
      transactions += static_cast<double>(line.transactions);
      bytes += static_cast<double>(line.bytes.value_or(0));
      EXPECT_LE(line.ideal, line.transactions) << kind.access << " of line " << line.line;
    }
    const std::string name = kind.counter;
    EXPECT_EQ(requests, counted.at(name + "_requests")) << kind.access;
    EXPECT_EQ(transactions, counted.at(name + "_" + kind.transactions)) << kind.access;
    const auto whole = counted.find(name + "_bytes");
    if (whole != counted.end()) EXPECT_EQ(bytes, whole->second) << kind.access;
  }
}

inline CountedValues counted_values(const Program& program, const LaunchOutcome& outcome) {
  CountedValues counted;
  for (const std::string_view name : counter_list()) {
    if (const auto value = counter(name, program, outcome).value) {
      counted.emplace(name, *value);
    }
  }
  return counted;
}

}  // namespace warpmeter::model

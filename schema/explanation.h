// SPDX-License-Identifier: MIT
// The costs of a launch, where, and what would help: what `warpmeter explain` says. Plain records,
// made where the addresses are known (collector/model/explain), kept by the store, put into
// sentences and pictures by reports.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/short_list.h"
#include "schema/grade.h"

namespace warpmeter::schema {

/// One warp's access: where each lane goes. Bytes, from the beginning of the array in shared
/// memory; in global memory from the beginning of the sector that the lowest goes to.
struct WarpPicture {
  static constexpr unsigned lane_count = 32;
  std::uint32_t mask = 0;   ///< bit l: lane l takes part; 0: there is no picture
  std::uint32_t width = 0;  ///< bytes a lane
  std::array<std::uint64_t, lane_count> address{};
  /// In shared memory, from 1: the wavefront that serves the lane. It is 0 in global memory.
  std::array<std::uint32_t, lane_count> pass{};
};

/// The value of a launch's counter with the change, by the rules that count it today.
struct Prediction {
  std::string_view counter;  ///< the catalogue's own text of its name
  std::uint64_t value = 0;
};

/// A change that was tried on the recorded addresses.
struct Remedy {
  std::string name;    ///< "padding 1", "swizzle", "transpose", "vector 4"
  std::string change;  ///< in the kernel's own words where they are known: "tile[16][17]"
  std::string words;   ///< the change, in half a sentence: "a word of padding a row"
  /// The transactions of the finding's own accesses with the change, and of all others of the same
  /// array; per request the reader divides.
  std::uint64_t transactions = 0, other_transactions = 0;
  ShortList<Prediction, 10> predicted;       ///< wavefronts and requests of five kinds of accesses
  std::optional<std::int64_t> shared_bytes;  ///< the shared bytes of a block, with the change
  std::optional<std::int64_t>
      blocks;  ///< the blocks of a multiprocessor at a time, with the change
  /// More of the same that gives the same counts: words of padding, bits of a swizzle's shift.
  ShortList<std::uint8_t, 31> also_amounts;
  bool is_advised = false;  ///< false: tried, and no better; `explain --what-if` lists it
  WarpPicture picture;      ///< the finding's access with the change
};

struct Finding {
  std::string kind;  ///< one of finding_kinds
  std::string file;  ///< empty: of the launch as a whole, or no lines are known
  int line = 0;
  std::vector<int> also_lines;  ///< others of the file that it counts too, ascending
  std::string text;             ///< the source line, trimmed
  std::string object;           ///< array or buffer, by name where there is one
  std::string access;           ///< as Line::access; empty where it is none
  std::string evidence;         ///< whole sentences: the pattern and what it costs
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
  std::uint64_t other_transactions =
      0;  ///< the other transactions of all other accesses of the same array
  double share =
      0;  ///< the share of `share_of`, 0 to 1: what a launch without the mistake would save
  std::string share_of;  ///< "the launch's shared wavefronts", "the launch's instructions"
  Grade grade = Grade::exact;
  std::string grade_reason;      ///< why it is not exact
  std::vector<Remedy> remedies;  ///< best first; those advised before the others
  WarpPicture picture;           ///< the costliest warp of the access
};

struct FindingKind {
  const char* name;
  const char* looked_for;    ///< "bank conflicts"
  bool is_measured = false;  ///< only a GPU can show it
};
/// The kinds that are looked for: in every launch that the model counts, and what is measured where
/// a GPU timed or sampled it. docs/explain.md has a section each.
inline constexpr std::array<FindingKind, 20> finding_kinds = {{
    {"bank_conflict", "bank conflicts"},
    {"strided_access", "strided accesses to global memory"},
    {"scattered_access", "scattered accesses to global memory"},
    {"misaligned_access", "misaligned accesses to global memory"},
    {"overlapping_access", "sectors that one warp fetches by several loads"},
    {"refetched_sectors", "sectors that several warps of a block fetch"},
    {"repeated_load", "loads of the same addresses again and again"},
    {"repeated_store", "stores that later ones cover"},
    {"narrow_access", "narrow accesses that could be vectors"},
    {"divergence", "lanes that wait for others"},
    {"contended_atomic", "atomics that meet at one address"},
    {"local_memory", "local memory: spills and arrays with computed indices"},
    {"low_occupancy", "occupancy"},
    {"small_grid", "a grid smaller than the device"},
    {"partial_warp", "blocks that are no multiple of a warp"},
    {"tail", "a last wave of few blocks"},
    {"double_arithmetic", "double arithmetic in code of floats"},
    {"excess_transactions", "lines that cost more than their bytes need, as measured", true},
    {"below_copy", "time beside a copy's", true},
    {"waiting", "lines that the warps wait at", true},
}};

/// Why a GPU's launch has none of the findings that need addresses.
inline constexpr const char* without_addresses =
    "hardware counters have no addresses; the model has them: run --counts model, or profile -b "
    "model";

/// The findings of a launch, and what was looked for.
struct Explanation {
  struct Missing {
    std::string kind, reason;
  };
  bool was_made = false;          ///< false: nothing was looked for, and `missing` says why
  std::vector<Finding> findings;  ///< worst first
  std::vector<Missing> missing;   ///< kinds that could not be looked for; "" stands for all
};

/// The findings of a GPU for a launch, beside what the model may have found in it.
struct MeasuredFindings {
  std::vector<Finding> findings;
  std::vector<std::string> looked_for;        ///< kinds; those without a finding too
  std::vector<Explanation::Missing> missing;  ///< measured kinds that could not be looked for
};

}  // namespace warpmeter::schema

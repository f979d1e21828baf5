// SPDX-License-Identifier: MIT
// The costs of a launch, where, and what would help: what `warpmeter explain` says. Plain records,
// made where the addresses are known (collector/model/explain), kept by the store, put into
// sentences and pictures by reports.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/short_list.h"
#include "schema/field.h"

namespace warpmeter::schema {

/// The value of a launch's counter with the change, by the rules that count it today.
struct Prediction {
  std::string_view counter;  ///< the catalogue's own text of its name
  std::uint64_t value = 0;
};

// The members of the two records are the rows of explanation_fields.h.

/// A change that was tried on the recorded addresses. Those that are not advised are listed by
/// `explain --what-if`, and stored without lanes.
struct Remedy {
#define REMEDY(sort, name, description) sorts::sort::Made name = sorts::sort::initial();
#include "schema/explanation_fields.h"
  ShortList<Prediction, 10> predicted;  ///< wavefronts and requests of five kinds of accesses
};
constexpr auto fields_of(const Remedy*) {
  return std::tuple{
#define REMEDY(sort, name, description) Field{sorts::sort(), #name, &Remedy::name},
#include "schema/explanation_fields.h"
  };
}

/// One thing that the launch does at a cost.
struct Finding {
#define FINDING(sort, name, description) sorts::sort::Made name = sorts::sort::initial();
#include "schema/explanation_fields.h"
  std::vector<Remedy> remedies;  ///< best first; those advised before the others
};
constexpr auto fields_of(const Finding*) {
  return std::tuple{
#define FINDING(sort, name, description) Field{sorts::sort(), #name, &Finding::name},
#include "schema/explanation_fields.h"
  };
}

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

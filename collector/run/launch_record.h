// SPDX-License-Identifier: MIT
// The record of a launch before and beside its figures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.h"
#include "schema/records.h"

namespace warpmeter::run {

/// Names, size, geometry, useful work and the expectations of that size.
schema::Launch describe(const kernels::Family& family, const kernels::Variant& variant,
                        std::int64_t size, const Geometry& geometry);

/// The same launch, counted once more: samples and lines belong to the first.
schema::Launch repetition(const schema::Launch& first);

/// Counters without a value, each with the reason.
std::vector<schema::Counter> unavailable(const std::vector<std::string>& counters,
                                         const std::string& reason);

/// "transpose/tiled 4096: count", for NVTX.
std::string range_name(const schema::Launch& record, std::string_view phase);

}  // namespace warpmeter::run

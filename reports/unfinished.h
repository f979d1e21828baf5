// SPDX-License-Identifier: MIT
// Runs that are not the whole of what they were going to measure: still running, interrupted, ended
// by an error. Statements about their launches may not hold for those that are missing, so whoever
// passes a verdict on such a run has to say so.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

/// The names of runs that are shown under another name than their own: copies of other databases.
using RunNames = std::map<std::int64_t, std::string>;

/// "run 3 (nightly)"
std::string run_name(const schema::Reader& reader, std::int64_t run, const RunNames& names = {});

/// "run 3 (nightly) was interrupted after 4 of 6 launches: stopped by its user …"; empty for a run
/// that came to its end, also where launches failed on the way.
std::string why_unfinished(const schema::Reader& reader, std::int64_t run,
                           const RunNames& names = {});

/// The sentences of those that are.
std::vector<std::string> unfinished(const schema::Reader& reader,
                                    std::span<const std::int64_t> runs, const RunNames& names = {});

}  // namespace warpmeter::reports

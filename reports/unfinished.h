// Runs that are not the whole of what they were going to measure: still running, interrupted, ended
// by an error. What holds for their launches may not hold for those that are missing, so whoever
// passes a verdict on such a run has to say so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

/// "run 3 (nightly) was interrupted after 4 of 6 launches: stopped by its user …"; empty for a run
/// that came to its end, also where launches failed on the way.
std::string why_unfinished(const schema::Reader& reader, std::int64_t run);

/// The sentences of those that are.
std::vector<std::string> unfinished(const schema::Reader& reader,
                                    std::span<const std::int64_t> runs);

}  // namespace warpmeter::reports

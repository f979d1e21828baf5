// SPDX-License-Identifier: MIT
// The source files that a run's lines are of go into the database, so that a report made later, or
// on another machine, can show them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace warpmeter::cli {

/// `known`: sources that this program holds, by their paths as lines name them; of others, those
/// are read that could be read for their lines. A file that is too large, or that no longer holds
/// the lines that were measured, is left out.
void keep_sources(const std::string& database, std::int64_t run_id,
                  const std::map<std::string, std::string>& known = {});

}  // namespace warpmeter::cli

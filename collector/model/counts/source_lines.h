// SPDX-License-Identifier: MIT
// The costs of each source line of a program, out of what its sites have counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collector/model/machine/launch/launch.h"
#include "schema/records.h"

namespace warpmeter::model {

/// The name of a site's accesses to a space: "shared load", "global reduction".
std::string_view access_name(const SiteInfo& site, AddressSpace space);

/// The text of a line (from 1), without the white space around it; empty when there is none.
std::string line_text(std::string_view source, int line);

/// Accesses to shared and global memory by source line and kind, in the order of file, line and
/// kind. `source` is the text of the kernel's file, for the lines of the file that it is of:
/// `source_path`.
std::vector<schema::Line> source_lines(const Program& program, const LaunchOutcome& outcome,
                                       std::string_view source_path, std::string_view source);

}  // namespace warpmeter::model

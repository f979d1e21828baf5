// SPDX-License-Identifier: MIT
// The files that a source includes, found as a compiler would find them but without one: it is
// enough to know what must not be overwritten.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::model {

/// Every file that `path` includes, and those include, beside themselves or in `folders`; whatever
/// #if says. Headers of the system and the toolkit are left out.
std::vector<std::string> included_files(const std::string& path,
                                        const std::vector<std::string>& folders);

/// The first of them that has no end, as a device or a FIFO has none: a compiler would read it for
/// ever. Empty without one.
std::string endless_include(const std::string& path, const std::vector<std::string>& folders);

}  // namespace warpmeter::model

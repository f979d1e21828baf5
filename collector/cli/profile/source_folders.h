// SPDX-License-Identifier: MIT
// Where the sources of a profiled program may lie. Whoever compiled the program chose the paths of
// its line table, so none of them is read anywhere else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::cli {

/// The folders below which the sources of a program are read: its own, the working folder, those of
/// programs and Python scripts among its arguments, each with the project around it; the headers
/// and libraries beside a folder of programs; the toolkit's headers; those that the person names.
/// Throws Error{usage} where such a name is no folder's.
std::vector<std::string> source_folders(const std::vector<std::string>& words,
                                        const std::vector<std::string>& named);

/// One sentence where lines of the run have no text because their files lie in no such folder.
std::string unread_sources(const schema::Reader& reader, std::int64_t run_id,
                           const std::vector<std::string>& folders);

}  // namespace warpmeter::cli

// SPDX-License-Identifier: MIT
// The messages of a compiler, shortened.
#pragma once

#include <string>

#include "base/named_files.h"

namespace warpmeter::model {

/// The messages of a compiler of `source`, without what they quote of files elsewhere: a stranger's
/// source may include any file that we can read. Messages about other files than `shown` allows say
/// that, and how to see them.
std::string without_quotes(const std::string& messages, const std::string& source,
                           const NamedFiles& shown);

/// The first complaint of a compiler, without the place: 'identifier "flaot" is undefined'.
std::string first_error(const std::string& messages);

/// The first errors, shortened, and how many more there are; without warnings.
std::string first_errors(const std::string& messages);

}  // namespace warpmeter::model

// SPDX-License-Identifier: MIT
// The messages of a compiler, shortened.
#pragma once

#include <string>

namespace warpmeter::model {

/// The first complaint of a compiler, without the place: 'identifier "flaot" is undefined'.
std::string first_error(const std::string& messages);

/// The first errors, shortened, and how many more there are; without warnings.
std::string first_errors(const std::string& messages);

}  // namespace warpmeter::model

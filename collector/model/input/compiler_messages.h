// What a compiler says, shortened.
#pragma once

#include <string>

namespace warpmeter::model {

/// What a compiler complains of first, without the place: 'identifier "flaot" is undefined'.
std::string first_error(const std::string& messages);

/// The first errors, shortened, and how many more there are; without warnings.
std::string first_errors(const std::string& messages);

}  // namespace warpmeter::model

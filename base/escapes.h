// SPDX-License-Identifier: MIT
// Characters that would mean something where a text goes, spelled so that they do not.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpmeter {

/// "%2F" for every byte for which `is_special` holds.
std::string percent_encoded(std::string_view text, const std::function<bool(char)>& is_special);

/// As percent_encoded where only ASCII letters, digits and the characters of `safe` stay.
std::string percent_encoded_but(std::string_view text, std::string_view safe);

/// "&lt;": HTML's and XML's entities for those characters of `special` that have one (& < > " ').
std::string escaped_markup(std::string_view text, std::string_view special = "&<>\"'");

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// A number and its noun, "1 launch" and "2 launches": every sentence with a number has them from
// here.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace warpmeter {

/// The number as it is shown, "1" or "one" as well, and its noun. The plural is `one` with an s
/// where `many` is empty.
inline std::string with_noun(std::string_view shown, std::string_view one,
                             std::string_view many = {}) {
  const bool is_one = shown == "1" || shown == "one";
  std::string text(shown);
  text += ' ';
  text += is_one || many.empty() ? one : many;
  if (!is_one && many.empty()) text += 's';
  return text;
}

template <std::integral Number>
std::string with_noun(Number count, std::string_view one, std::string_view many = {}) {
  return with_noun(std::string_view(std::to_string(count)), one, many);
}

}  // namespace warpmeter

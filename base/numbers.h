// SPDX-License-Identifier: MIT
// From the text of an argument to its number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace warpmeter {

/// The whole of `text` as a number, nothing before or after it.
template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Throws Error{usage} that names the option, the text and what would have been right.
/// Digits only, from `least` to `most`. `option` as it is written: "--repeat".
std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t least,
                          std::int64_t most);

}  // namespace warpmeter

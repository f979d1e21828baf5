// SPDX-License-Identifier: MIT
// Texts and numbers one after the other, as often as a small launch can bear it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

namespace warpmeter::model::explain {

template <class... Parts>
std::string joined(const Parts&... parts) {
  constexpr std::size_t usual_length = 64;
  std::array<char, usual_length> start;
  std::size_t length = 0;
  std::string rest;  // the rest of what is longer
  const auto add_text = [&](std::string_view text) {
    if (rest.empty() && length + text.size() <= start.size()) {
      std::copy(text.begin(), text.end(), start.begin() + static_cast<std::ptrdiff_t>(length));
      length += text.size();
    } else {
      rest += text;
    }
  };
  const auto add = [&](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>) {
      const fmt::format_int digits(part);
      add_text({digits.data(), digits.size()});
    } else if constexpr (std::is_array_v<std::remove_reference_t<decltype(part)>>) {
      add_text({part, std::size(part) - 1});  // a literal, whose length need not be looked for
    } else {
      add_text(part);
    }
  };
  (add(parts), ...);
  return rest.empty() ? std::string(start.data(), length)
                      : std::string(start.data(), length) + rest;
}

}  // namespace warpmeter::model::explain

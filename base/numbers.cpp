// SPDX-License-Identifier: MIT
#include "base/numbers.h"

#include <fmt/format.h>

#include "base/error.h"

namespace warpmeter {

std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t least,
                          std::int64_t most) {
  const std::optional<std::int64_t> value = read_all<std::int64_t>(text);
  if (!value || *value < least || *value > most) {
    const std::string range = most == INT64_MAX ? fmt::format("of at least {}", least)
                                                : fmt::format("from {} to {}", least, most);
    throw Error(ExitCode::usage,
                fmt::format("{} takes a whole number {}, not '{}'", option, range, text));
  }
  return *value;
}

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// From the text of an argument to its value. Text that is not one throws Error{usage}: the option,
// the text that was wrong, and what would have been right.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/shell_line.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// A decimal number greater than 0.
double positive_seconds(std::string_view option, std::string_view text);

/// `text` when it is one of `known`.
std::string choose_word(std::string_view option, std::string_view text,
                        std::span<const std::string> known);

/// The parts between commas, of all texts in turn; an empty part is a mistake.
std::vector<std::string> split_list(std::string_view option, std::span<const std::string> texts);

/// "NAME=VALUE" → (":NAME", an integer, a real or a text, whichever VALUE reads as).
std::pair<std::string, schema::Value> parameter(std::string_view text);

/// Throws Error{usage} for a label that means a run of its own to --run (a number, last, last~N),
/// is longer than 200 bytes, or is not UTF-8.
void check_label(std::string_view label);

}  // namespace warpmeter::cli

// SPDX-License-Identifier: MIT
// Text from outside (kernel names, labels, source lines) on a screen: how wide it is, and how to
// show it without letting it act on the terminal or break a table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// True if the text is well-formed UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

/// One line that is safe to show: line ends and tabs become spaces; other control characters,
/// bytes that are no UTF-8 and marks that turn the reading direction are spelled out (\x1b,
/// \u202e).
std::string printable(std::string_view text);

/// The same of several lines, which stay apart.
std::string printable_lines(std::string_view text);

/// JSON, whose texts spell out with \\u what would act on a terminal: control characters beyond
/// those that JSON spells out itself, and marks that turn the reading direction.
std::string printable_json(std::string json);

/// Code points; a byte that is no UTF-8 is one.
std::size_t characters(std::string_view text);

/// Terminal columns that printable text takes: combining marks take none, East Asian wide
/// characters and emoji two.
std::size_t display_width(std::string_view text);

/// `text` on lines of at most `width` columns, broken at spaces where there are any; a longer word
/// is cut. At least one line. `width` is at least 2.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace warpmeter

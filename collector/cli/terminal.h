// SPDX-License-Identifier: MIT
// The kind of a stream's other end, and the colours it gets. NO_COLOR is honoured
// (https://no-color.org: set and not empty), and so is TERM=dumb.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::cli {

bool is_terminal(int descriptor);

/// Columns of the terminal; 80 when it does not say.
int terminal_width(int descriptor);

/// Writes to standard error, and goes on when nobody can read it: a remark that is lost is no
/// reason to lose a measurement or an exit code.
void say(std::string_view text);

enum class Colour { red, green, yellow };

/// The text in colour where the stream shows colours, else the text.
std::string coloured(int descriptor, Colour colour, std::string_view text);

}  // namespace warpmeter::cli

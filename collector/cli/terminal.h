// SPDX-License-Identifier: MIT
// The kind of a stream's other end, and the colours it gets. NO_COLOR is honoured
// (https://no-color.org: set and not empty), and so is TERM=dumb.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warpmeter::cli {

bool is_terminal(int descriptor);

/// Columns of the terminal; 80 when it does not say.
int terminal_width(int descriptor);

enum class Colour { red, green, yellow };

/// Takes note of the command line: what say() names of it stays on its line, whatever line ends a
/// file's name has.
void know_words(std::span<const std::string> words);

/// Writes to standard error, and goes on when nobody can read it: a remark that is lost is no
/// reason to lose a measurement or an exit code. The text holds what files and databases say, so
/// that all but its line ends is made printable, and very long words are cut.
void say(std::string_view text);
/// The same with a word in colour before it.
void say(Colour colour, std::string_view word, std::string_view text);
/// In place of the line that the terminal shows last; an empty text clears it.
void say_in_place(std::string_view line);

/// The text in colour where the stream shows colours, else the text.
std::string coloured(int descriptor, Colour colour, std::string_view text);

}  // namespace warpmeter::cli

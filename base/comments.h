// SPDX-License-Identifier: MIT
// A text of C++ as its compiler sees it: what a comment names is not used.
#pragma once

#include <set>
#include <string>

namespace warpmeter {

/// Each comment is a space; what looks like one within a string, a raw string or a character is
/// none.
std::string without_comments(const std::string& text);

/// The text with blanks in the place of each comment, string and character: all else stays where it
/// is, and so do line ends.
std::string with_blank_literals(const std::string& text);

/// `without_comments`, and without preprocessor commands and the lines that continue them.
std::string without_commands(const std::string& text);

/// The words of preprocessor lines, which a macro may stand for; a pragma's words may be names of
/// the code ("#pragma unroll TILE").
std::set<std::string> names_in_commands(const std::string& text);

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// The sources that machine code and PTX of the program name. They are read only below the folders
// that the person chose (inject::Config), for whoever compiled the program may be a stranger.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::runtime {

/// Before the first kernel. Without it no source is read.
void allow_sources(const std::vector<std::string>& folders);

/// Empty where the file is not allowed or cannot be read. A source that keep_source() has, or
/// Python (a notebook's cell), needs no file.
std::string allowed_source(const std::string& file);

/// A source that the program gave to a compiler: the text of the file of that name.
void keep_source(const std::string& file, const std::string& text);

}  // namespace warpmeter::runtime

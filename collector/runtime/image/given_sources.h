// SPDX-License-Identifier: MIT
// The sources that a program gives to NVRTC as texts, by the names that PTX has for them.
#pragma once

#include <optional>
#include <string>

namespace warpmeter::runtime {

/// A text that NVRTC compiles under a name.
void remember_source(const std::string& name, const std::string& text);
/// The text of a file as kernels name it (model::relative_path); nothing where none was given.
std::optional<std::string> given_source(const std::string& file);

/// The PTX with comments behind it that hold the source that it was made of, and PTX without them,
/// whose source is remembered: CuPy keeps machine code on disk, and no source of it.
std::string with_source(std::string ptx, const std::string& name, const std::string& text);
std::string without_source(std::string ptx);

}  // namespace warpmeter::runtime

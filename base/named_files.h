// SPDX-License-Identifier: MIT
// Files that are named by another file: the .file of PTX, the file: of YAML, an #include, a
// configuration. Whoever wrote that file may be a stranger, so no such path makes the program wait
// (a pipe), read without end (a device) or show what the person did not choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpmeter {

/// No text that people write is larger: sources, YAML, SQL, TOML.
inline constexpr std::uint64_t largest_text = std::uint64_t{64} << 20;

/// The bytes of a regular file of at most `most` bytes, or why there are none: the rest of a
/// sentence that starts with the file.
struct ReadFile {
  std::optional<std::string> text;
  std::string why_not;
};
ReadFile read_regular_file(const std::string& path, std::uint64_t most = largest_text);

/// The folder of the project that a folder is of: the nearest one at or above it that a version
/// control knows, else one with a CMakeLists.txt or Makefile, else the one around a build
/// (CMakeCache.txt), else itself. Never found in the home folder or one above it.
std::filesystem::path project_folder(const std::filesystem::path& folder);

/// The folders that paths in a file may lead into. Links are followed before a path is judged.
/// Files of the home folder's hidden folders (~/.ssh) need a folder in there.
class NamedFiles {
 public:
  /// No folder.
  NamedFiles() = default;
  /// The working folder, and the folder of the file that names others.
  explicit NamedFiles(const std::string& naming_file);

  /// A folder of the person's (-I), or of the toolkit.
  void allow(const std::filesystem::path& folder);
  bool allows(const std::string& path) const;
  /// Empty where the path is not allowed or cannot be read.
  std::string text(const std::string& path) const;

 private:
  std::vector<std::filesystem::path> folders_;  // resolved
};

}  // namespace warpmeter

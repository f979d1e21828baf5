// SPDX-License-Identifier: MIT
// Where the injected library is, and a folder that only this user can enter.
#pragma once

#include <filesystem>

#include "base/temporary.h"

namespace warpmeter::profile {

/// A session's folder, for its socket and perhaps the library.
class PrivateFolder : public TemporaryFolder {
 public:
  PrivateFolder();  ///< where the path is short enough for a socket; throws Error{file}
};

/// The libraries that a program gets: what the driver loads where there is a GPU, and what answers
/// the program's API where there is none.
enum class Library { injector, runtime };

/// libwarpmeter_inject.so (libwarpmeter_runtime.so) next to `program` or in ../lib of it, when it
/// is the very one that this program was built with; else unpacked into `folder`. Throws
/// Error{file}.
std::filesystem::path find_library(Library library, const std::filesystem::path& program,
                                   const std::filesystem::path& folder);

/// A folder in `folder` with libraries of NVIDIA's names, for programs that need them where they
/// are not installed: they have all functions, which do nothing until the runtime library redirects
/// them. Throws Error{file}.
std::filesystem::path write_stand_ins(const std::filesystem::path& folder);

}  // namespace warpmeter::profile

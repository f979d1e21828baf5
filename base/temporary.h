// SPDX-License-Identifier: MIT
// Folders and files that go away again, and the permissions of files that stay.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/endings.h"

namespace warpmeter {

/// A folder that only this user can enter, removed with all it holds by the process that made it;
/// by a signal that ends the program too.
class TemporaryFolder {
 public:
  /// In $TMPDIR, or in /tmp where the path of that one has more than `longest` characters. Throws
  /// Error{file} when none can be made.
  explicit TemporaryFolder(std::size_t longest = std::numeric_limits<std::size_t>::max());
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<Doomed> doomed_;
  pid_t owner_;
  int lock_ = -1;  ///< on the folder, as long as this process lives
};

/// Removes the folders of this user in $TMPDIR and /tmp whose processes were killed: those that
/// nobody has locked any more.
void clear_left_folders();

/// The usual permissions of a new file: those that the umask leaves. mkstemp makes files that only
/// their owner can read.
mode_t usual_mode();

}  // namespace warpmeter

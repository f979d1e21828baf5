// SPDX-License-Identifier: MIT
// Waits until a file is saved. Folders are watched, not files: editors save by writing another file
// and renaming it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace warpmeter::cli {

class FileWatch {
 public:
  /// Throws Error{file} where the system gives no watch.
  FileWatch();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

  /// From now on these, and no others.
  void set(const std::vector<std::string>& files);

  /// True if one of them was saved since set(), or since this or wait() said so; what is saved
  /// together with it has been, then.
  bool was_saved();

  /// Returns true once one of them was saved, and those that are saved together with it have been;
  /// false when `ends` says so. A file that was saved since set() counts.
  bool wait(const std::function<bool()>& ends);

 private:
  bool read_events();

  int handle_ = -1;
  std::vector<std::pair<int, std::string>> watched_;  ///< folder's watch, file's name in it
  std::vector<int> folders_;
};

}  // namespace warpmeter::cli

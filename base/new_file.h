// SPDX-License-Identifier: MIT
// A file that appears whole or not at all. Until it is complete it has no name where the file
// system can do that, so that not even a killed program leaves anything behind; elsewhere it has
// another name beside its place.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/endings.h"

namespace warpmeter {

class NewFile {
 public:
  /// A file of that name, or what a link of that name leads to; it keeps the permissions that it
  /// has. A device or pipe (/dev/full, a FIFO) is written directly. `hint` ends the sentence of an
  /// Error{file}: "choose another file with -o".
  NewFile(std::string name, std::string hint);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Writes all of `text`. False when the reader of a pipe has gone. Throws Error{file}.
  bool write(std::string_view text);
  /// The file is complete and takes its place. Throws Error{file}.
  void keep();

 private:
  void open_beside(const std::string& target);
  void set_mode(mode_t mode);
  void give_name();
  [[noreturn]] void fail() const;

  std::string name_, hint_;
  std::string target_;              ///< its place, links resolved; empty: written directly
  std::string beside_;              ///< its name until it is complete; empty: it has none
  std::unique_ptr<Doomed> doomed_;  ///< for `beside_`
  int descriptor_ = -1;
};

/// Writes all of `text` to an open file. False when the reader of a pipe has gone. Throws
/// Error{file}.
bool write_all(int descriptor, std::string_view text, const std::string& name,
               const std::string& hint);

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// Where a command's result goes: standard output, or the file of -o.
//
// A file appears whole or not at all (base/new_file.h). A device or pipe (/dev/full, a FIFO) is
// written directly.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_claims.h"
#include "base/new_file.h"

namespace warpmeter {

class Output {
 public:
  Output() : Output(Destination::standard_output()) {}
  /// Throws Error{file} when the file cannot be made.
  explicit Output(const Destination& destination);

  const std::string& name() const { return name_; }

  /// Writes all of `text`. False when the reader of a pipe has gone: nobody wants the rest, and
  /// that is no failure. Throws Error{file} when it cannot be written.
  bool write(std::string_view text);

  /// The result is complete: a file gets its name. Throws Error{file}.
  void finish();

 private:
  std::string name_;               ///< for messages
  std::unique_ptr<NewFile> file_;  ///< none: standard output
  bool reader_gone_ = false;
};

/// Opens /dev/null where standard input, output or error is closed, so that no file of ours ever
/// takes its number.
void keep_standard_streams();

}  // namespace warpmeter

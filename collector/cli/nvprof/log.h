// SPDX-License-Identifier: MIT
// Where nvprof's lines go: standard error, or the file of --log-file, one for each process where
// its name holds %p.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace warpmeter::cli::nvprof {

/// A name with %p (the process), %h (the host), %q{NAME} (a variable) and %% replaced, and %i where
/// there is a context. Throws Error{usage} for any other character behind % and for a variable that
/// is not set.
std::string file_name(std::string_view option, std::string_view pattern, pid_t process,
                      std::optional<std::int64_t> context = {});

class Log {
 public:
  /// `pattern` of --log-file; empty: standard error. "%1" and "%2" are standard output and standard
  /// error, as nvprof had it. Throws Error{usage} for a wrong pattern.
  Log(std::string pattern, bool is_quiet);
  ~Log();

  /// Adds lines to what belongs to the process. Throws Error{file}.
  void write(pid_t process, std::string_view text);

 private:
  struct File;
  std::string pattern_;
  bool is_quiet_;
  std::map<std::string, std::unique_ptr<File>> files_;  ///< by name
};

}  // namespace warpmeter::cli::nvprof

// How a command fails. What cannot continue throws Error at the boundary where it is noticed (a
// file, the database, the driver); main() catches it once, prints one sentence and returns the
// code. An expected outcome (a metric that a chip lacks, a wrong answer of a kernel) is a value and
// never an Error.
#pragma once

#include <stdexcept>
#include <string>

namespace warpmeter {

/// The program's exit codes. They are part of its interface: docs/commands.md lists them.
enum class ExitCode : int {
  done = 0,
  broken = 1,       ///< `check` found a broken gate, or `compare --fail-on` found a change
  usage = 2,        ///< wrong usage, an unknown name, an SQL error, a statement that would write
  nothing = 3,      ///< nothing was measured, matched or paired
  no_hardware = 4,  ///< the hardware, driver or permission is not there
  file = 5,         ///< a database or file could not be read or written
  kernel = 6,       ///< a kernel failed or gave a wrong answer
};

/// `message` is one sentence that says what happened and what to do next, without a final newline.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// How a command fails. Code that cannot continue throws Error at the boundary where it is noticed
// (a file, the database, the driver); main() catches it once, prints one sentence and returns the
// code. An expected outcome (a metric that a chip lacks, a wrong answer of a kernel) is a value and
// never an Error.
#pragma once

#include <array>
#include <stdexcept>
#include <string>

namespace warpmeter {

/// The program's exit codes. They are part of its interface. Their meanings are in the table below;
/// --help is made from it and the one table of docs/commands.md is held to it.
enum class ExitCode : int { done, broken, usage, nothing, no_hardware, file, kernel };

struct ExitCodeInfo {
  int number;
  const char* brief;    ///< as --help says it
  const char* meaning;  ///< as the documentation says it
};
inline constexpr std::array<ExitCodeInfo, 8> exit_codes = {{
    {static_cast<int>(ExitCode::done), "done", "done; every gate holds"},
    {static_cast<int>(ExitCode::broken), "a gate is broken, or a comparison fails",
     "`check`: a gate is broken; `compare --fail-on`: something is slower or changed"},
    {static_cast<int>(ExitCode::usage), "wrong usage",
     "wrong usage, an unknown name, an SQL error or a statement that would write"},
    {static_cast<int>(ExitCode::nothing), "nothing to measure or show, or no certain answer",
     "nothing was measured, matched or paired; a gate is inconclusive, or its run unfinished; "
     "`query`, `report` or `profile` was stopped by its `--timeout`"},
    {static_cast<int>(ExitCode::no_hardware), "no usable hardware",
     "the hardware, driver or permission is not there"},
    {static_cast<int>(ExitCode::file), "a file or database failed",
     "a database or file could not be read or written"},
    {static_cast<int>(ExitCode::kernel), "a kernel failed, or has a mistake",
     "a kernel failed or gave a wrong answer; `run --check`, `model --check` or "
     "`profile --check` found a mistake"},
    // A shell's code for the signal that ends the program.
    {130, "stopped by Ctrl-C",
     "stopped by Ctrl-C (143 by SIGTERM, 129 by SIGHUP); what was finished is kept"},
}};

/// `message` is one sentence that says what happened and what to do next, without a final newline.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// A signal asks the program to end, and the command cannot go on without the answer of a compiler
/// that was ended for it. main() adds no sentence to that of the signal.
class Interrupted : public Error {
 public:
  Interrupted() : Error(ExitCode::nothing, "a signal stopped this") {}
};

}  // namespace warpmeter

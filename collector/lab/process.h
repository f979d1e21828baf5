// SPDX-License-Identifier: MIT
// Another program's answer. Its arguments are words, never a shell's line, so that what a person
// typed stays text.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace warpmeter::lab {

struct Answer {
  int status = 0;  ///< exit code; 128 and the signal's number where one ended it
  std::string output, error;
};

/// Runs the program with nothing on standard input, and waits for its end: at most `limit`, when
/// there is one, after which it is ended and its complaint is that it did not answer. Throws
/// Error{no_hardware} when there is no such program, with `missing` at the end of the sentence.
Answer ask(const std::vector<std::string>& words, const std::string& missing,
           std::chrono::seconds limit = {});

/// Its first line that says something, without the program's own name before it.
std::string complaint(const Answer& answer);

}  // namespace warpmeter::lab

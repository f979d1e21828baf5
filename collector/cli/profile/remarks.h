// SPDX-License-Identifier: MIT
// The output of `warpmeter profile` when the program has ended: tables, remarks, the exit code.
#pragma once

#include <string>

#include "collector/cli/profile/request.h"
#include "collector/profile/recorder.h"

namespace warpmeter::cli {

/// A line on standard error, beside what the program prints.
void say_line(const std::string& text);

/// Ends the run in the database. Why the program did not end by itself and well; else empty.
std::string end_run(const ProfileRequest& request, const profile::Outcome& outcome,
                    profile::Recorder& recorder);

/// Ends the run and tells of it. The program's own exit code when it failed; throws Error when
/// nothing was measured, or the database failed.
ExitCode conclude(const ProfileRequest& request, const profile::Outcome& outcome,
                  profile::Recorder& recorder);

}  // namespace warpmeter::cli

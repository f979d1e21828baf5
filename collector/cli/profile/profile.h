// SPDX-License-Identifier: MIT
// A program is measured, for `profile` and for `nvprof`.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "collector/cli/profile/remarks.h"
#include "collector/cli/profile/request.h"

namespace warpmeter::cli {

/// The caller's part: while the program runs, and when it has ended.
struct ProfileHooks {
  std::function<void(pid_t)> met;  ///< a process that uses CUDA; may be empty
  std::function<void(const std::string&)> remark = [](const std::string& text) {
    say_line("warpmeter: " + text);
  };
  std::function<ExitCode(const ProfileRequest&, const profile::Outcome&, profile::Recorder&)>
      conclude = cli::conclude;
};

/// Runs the program and stores what is measured. Throws Error, as `profile` fails.
ExitCode profile_program(const ProfileRequest& request, const ProfileHooks& hooks);

}  // namespace warpmeter::cli

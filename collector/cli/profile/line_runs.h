// SPDX-License-Identifier: MIT
// `--lines` on a GPU: accesses by source line, measured in runs of their own. CUPTI collects them
// for one launch of a process, so `profile` runs the program once more for each kernel, and `run`
// starts itself again for each launch. The answers are added to launches that are stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "collector/cli/profile/request.h"
#include "collector/cli/request/run_request.h"
#include "collector/profile/recorder.h"
#include "collector/profile/session.h"
#include "collector/run/selection.h"

namespace warpmeter::cli {

/// The kernels are those of a profiled program whose launches are stored. Lines that cannot be had
/// are told, with the reason.
void add_lines_of_kernels(const ProfileRequest& request, const profile::Options& options,
                          const inject::Config& config, const profile::Recorder& recorder);

/// The launches are those of a run on GPUs that have no lines yet. The GPU is to be free.
void add_lines_of_variants(const RunRequest& request, const run::Choice& choice,
                           std::int64_t run_id);

/// The launch for which such a process of `run` is started: this one alone.
struct LaunchAlone {
  std::string family, variant;
  std::int64_t size = 0;
};
/// The launch for which this process was started; nullopt: for what its command line says.
std::optional<LaunchAlone> launch_alone();
/// Executes it, and nothing else.
ExitCode execute_alone(const LaunchAlone& alone, const run::Choice& choice, run::Backend& backend);

}  // namespace warpmeter::cli

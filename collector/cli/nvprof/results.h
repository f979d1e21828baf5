// SPDX-License-Identifier: MIT
// The output when the program has ended, and that of an imported file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/cli/nvprof/log.h"
#include "collector/cli/nvprof/names.h"
#include "collector/cli/nvprof/options.h"
#include "collector/profile/recorder.h"
#include "schema/nvprof_file/names.h"

namespace warpmeter::cli::nvprof {

/// The processes that were profiled, each with its command line.
using Processes = std::map<pid_t, std::string>;

struct Measured {
  const Request& request;
  const Names& names;
  const Processes& processes;
  const std::string& database;
  std::optional<std::int64_t> run_id;  ///< nullopt: nothing was stored
  const profile::Recorder* recorder;   ///< null for an imported file
  bool is_of_model = false;            ///< the model executed it
  reports::nvprof::ResourceNames resource_names = {};
};

/// The tables that were asked for, and warnings.
void print_results(const Measured& measured, Log& log);

/// "==123== "
std::string prefix(pid_t process);

/// The names of --context-name, and those that the program gave by NVTX. They live as long as the
/// request, and as the recorder or the names of an imported file.
reports::nvprof::ResourceNames resource_names(const Request& request,
                                              const profile::Recorder& recorder);
reports::nvprof::ResourceNames resource_names(const Request& request,
                                              const schema::NvprofNames& imported);

/// True of a request whose tables are read from the view `activities`.
bool needs_trace(const Request& request);

}  // namespace warpmeter::cli::nvprof

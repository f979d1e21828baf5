// SPDX-License-Identifier: MIT
// The request of `warpmeter profile`, and what follows from it before the program starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_claims.h"
#include "collector/inject/protocol.h"
#include "collector/profile/passes.h"

namespace warpmeter::cli {

struct ProfileRequest {
  std::vector<std::string> words, metrics, devices, ranges;
  std::string kernel, name_base = "function", format = "table", output, from_start = "on",
                      processes = "all", replay = "kernel", label, database, command_line,
                      backend = "auto", arch, blocks;
  std::int64_t skip = 0, count = 0, lines_kernels = 0;  ///< the last 0: not given
  double timeout = 0, launch_timeout = 0;               ///< 0: not given
  std::vector<std::string> shapes, source_roots;
  bool times = false, list_passes = false, quiet = false, checks = false, lines = false,
       verbose = false;
  bool pause_dcgm = false;
  bool trace = false, trace_calls = false, csv = false;
  bool managed_memory = true;  ///< a trace has its faults and migrations
  bool allocations = false;    ///< and the program's allocations
  bool keeps_origins = false;  ///< the recorder tells where each counted launch came from
  bool sums_calls = false;     ///< beside a trace without calls they are summed up all the same
  std::int64_t model_devices = 1;

  Destination destination = Destination::standard_output();  ///< the place that `output` names
  std::string nvprof_file;                                   ///< empty: none is written
  Destination nvprof_destination = Destination::standard_output();  ///< the place that it names
  std::string trace_file;                                           ///< empty: none is written
  Destination trace_destination = Destination::standard_output();   ///< the place that it names

  bool counts() const { return !metrics.empty(); }
  /// Does it show activities?
  bool traces() const { return trace || trace_calls; }
  /// Perfetto's file has activities, nvprof's those of a program that nothing is counted of.
  bool writes_trace() const { return !trace_file.empty() || (!nvprof_file.empty() && !counts()); }
  bool replays_program() const { return replay == "application"; }
};

/// The configuration of the injected library; the counters are all of them, whatever pass they are
/// in. Throws Error{usage} for what cannot be meant: unknown metrics, bad patterns, options that
/// need others.
inject::Config config_of(const ProfileRequest& request);

/// The names of this machine's chips; where there is no GPU, one of each generation.
std::vector<std::string> chips_here();

/// PerfWorks names that no chip has are a mistake. A GPU is asked for its chip only then. Throws
/// Error{usage}.
void check_names(const inject::Config& config);

/// Says how many passes the counters take on a chip, unless the request is quiet or runs the
/// program again for each.
void tell_passes(const ProfileRequest& request, const inject::Config& config,
                 const std::string& chip);

/// How often the program runs, and with which counters. More runs than one are said, unless the
/// request is quiet. Throws as cupti::plan_passes.
profile::Passes passes_of(const ProfileRequest& request, const inject::Config& config);

/// --list-passes
ExitCode list_passes(const ProfileRequest& request);

}  // namespace warpmeter::cli

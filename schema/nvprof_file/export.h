// SPDX-License-Identifier: MIT
// A run as a file that readers of `nvprof -o` take: nvprof's tables of CUDA 9 to 11, filled from
// the activities of a traced run and from the metrics of a counted one.
//
// nvprof's columns cannot be empty. As CUPTI says it, a start and an end of 0 mean that the time is
// not known: those of the model, and of launches that were counted and not traced. Other numbers
// that are not known are 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/file_claims.h"
#include "schema/store.h"

namespace warpmeter::schema {

struct NvprofExported {
  std::int64_t kernels = 0, copies = 0, sets = 0, calls = 0, ranges = 0, managed = 0;
  std::int64_t allocations = 0;
  std::int64_t values = 0;    ///< metrics and events
  std::int64_t left_out = 0;  ///< values under names that nvprof did not have
  bool has_unknown_times = false;
};

/// Which of nvprof's tables of source lines the file has.
struct NvprofSourceLevel {
  bool global_access = false, shared_access = false, instruction_execution = false;
  bool is_any() const { return global_access || shared_access || instruction_execution; }
};

/// Names that a person gave, by --process-name and --context-name, or the program by NVTX; empty:
/// none.
struct NvprofNaming {
  std::function<std::string(std::int64_t process)> process;
  std::function<std::string(std::int64_t process, std::int64_t context)> context;
  std::function<std::string(std::int64_t process, std::int64_t context, std::int64_t stream)>
      stream;
  struct Thread {
    std::int64_t process = 0;
    std::uint64_t thread = 0;
    std::string name;
  };
  std::vector<Thread> threads;
  std::map<std::int64_t, std::string> devices;  ///< by ordinal
};

/// Writes the file, whole or not at all; one that is there is replaced. `names`: of metrics and
/// events only these; all that the run has where there are none. The program's name is in the file
/// too, as an object of an unknown kind, for import_nvprof_file(). Throws Error{file}.
NvprofExported export_nvprof_file(const Reader& reader, std::int64_t run_id,
                                  const Destination& destination,
                                  std::span<const std::string> names = {},
                                  const NvprofNaming& naming = {},
                                  const NvprofSourceLevel& source_level = {});

}  // namespace warpmeter::schema

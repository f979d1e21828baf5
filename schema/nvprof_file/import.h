// SPDX-License-Identifier: MIT
// A file that `nvprof -o` wrote, as a run of today: its kernels with shapes and durations are
// launches, metrics and events their counters. The run has the date of then, and a UUID that
// follows from the file, so that the same file is the same run wherever it is read.
#pragma once

#include <functional>
#include <string>

namespace warpmeter::schema {

struct NvprofImport {
  /// The program that was profiled; empty: the file's own name for it, of warpmeter or of
  /// --process-name, and where it has none its file name without the ending.
  std::string program;
  std::function<bool()> cancelled;
};

/// True for a database with nvprof's tables, in whatever version; false for any other file.
bool is_nvprof_file(const std::string& path);

/// Reads the file into a new database at `target`, which then has one run. Says in one sentence
/// where the run's date is from. Throws Error{file} for a file that is damaged, is none of nvprof's
/// or of a version that nobody knows; Error{nothing} when `cancelled` ended it.
std::string import_nvprof_file(const std::string& path, const std::string& target,
                               const NvprofImport& options = {});

}  // namespace warpmeter::schema

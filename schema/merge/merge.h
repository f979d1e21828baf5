// SPDX-License-Identifier: MIT
// Several databases into one. A run is known everywhere by its UUID: it is copied with all that
// belongs to it, in one transaction, unless the target has it already. So merging again changes
// nothing, a merge that was killed is completed by the next one, and other writers get their turn
// between two runs. Sources are never changed. A file of nvprof is a source too: it is read into a
// database of ours first, and is one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace warpmeter::schema {

struct MergeOptions {
  std::string source_name;  ///< the source name of a source in what is said of conflicts; its path
                            ///< when empty
  bool skip_unreadable = false;  ///< go on with the other sources when one is missing or damaged
  std::string nvprof_program;    ///< the program that nvprof's files are of; see NvprofImport
  std::function<bool()> cancelled;
  /// `done` of `total` runs of all sources; the source that is being read.
  std::function<void(std::size_t done, std::size_t total, const std::string& source)> progress;
};

/// The result for one source.
struct MergedSource {
  std::string path;
  bool is_target = false;     ///< it is the target itself: nothing to take
  std::string refused;        ///< why nothing of it was taken; empty when it was read
  std::int64_t added = 0;     ///< runs
  std::int64_t known = 0;     ///< runs that the target has with the same content
  std::int64_t running = 0;   ///< runs that are still being measured: left for later
  std::int64_t launches = 0;  ///< the launches of the runs added
  std::int64_t rows = 0;      ///< likewise
  /// Runs that the target has with another content, which it keeps: "run 3 (1f2e…): …".
  std::vector<std::string> conflicts;
  std::vector<std::string> remarks;
};

/// Merges `sources` into `target`, which is created or extended, in their order. Every source is
/// looked through first: unless skip_unreadable, one that is missing, damaged, foreign or newer is
/// an Error{file}, and the target stays as it was. Throws Error{file} also when none is left, or
/// the target cannot be written.
std::vector<MergedSource> merge(std::span<const std::string> sources, const std::string& target,
                                const MergeOptions& options = {});

/// Copies one run of `source`, which is never changed, into `target`, which is created or extended;
/// its number there. A run that the target has already is not copied again. Throws Error{file}.
std::int64_t copy_run(const std::string& source, std::int64_t run, const std::string& target);

}  // namespace warpmeter::schema

// SPDX-License-Identifier: MIT
// Which launch of a later run of a program is which launch of its first run.
//
// A program that runs again has other processes, its threads take turns differently, and CUPTI may
// number streams and contexts in another order. So what is the same is found from the closest
// resemblance to the loosest: kernel and geometry, process, context and stream, and the same number
// of launches of its kind before it; then without the stream; then without the process. The rest
// was launched in one of the runs only.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collector/inject/protocol.h"

namespace warpmeter::profile {

/// A launch as far as runs can have it in common.
struct Sighting {
  std::uint32_t identity = 0;  ///< device, kernel and geometry; from Identities
  std::uint64_t process = 0;   ///< the same in every run, as far as can be told
  std::uint32_t context = 0, stream = 0;
  std::uint32_t occurrence = 0;  ///< launches before it that have all of the above in common
};

/// For each launch of a later run its place in the first; nullopt for one that the first did not
/// have, or had another number of, so that nobody can tell which is which. No place is given twice.
std::vector<std::optional<std::size_t>> match(std::span<const Sighting> first,
                                              std::span<const Sighting> later);

/// Numbers of what identifies a launch in every run: a kernel of a graph is another one than the
/// same kernel by itself.
class Identities {
 public:
  std::uint32_t number_of(const std::string& kernel, const inject::LaunchShape& shape,
                          bool is_in_graph = false);
  const std::string& kernel_of(std::uint32_t identity) const { return *kernels_[identity]; }

 private:
  using Extent = std::array<std::uint32_t, 3>;
  using Key =
      std::tuple<std::string, std::uint32_t, Extent, Extent, bool>;  // kernel … block, in a graph
  std::map<Key, std::uint32_t> known_;
  std::vector<const std::string*> kernels_;  ///< by number; in known_
};

/// The launches of one run.
class Sightings {
 public:
  /// A process of connection `peer`. Its numbers come from the order of the process ids among those
  /// that run the same program: it is the order in which they were started.
  void meet(int peer, pid_t process, const std::string& program);

  /// A launch of a counter pass; returns its place.
  std::size_t add(int peer, const inject::LaunchShape& shape, std::uint32_t identity,
                  std::uint32_t occurrence);
  /// A launch of a trace; its occurrence follows from the correlations of its process.
  std::size_t add_traced(int peer, const inject::LaunchShape& shape, std::uint32_t identity,
                         std::uint32_t correlation);

  /// When the run has ended: its launches by their places, ready for match().
  std::span<const Sighting> finish();
  /// One that a later run was the first to see; its place here.
  std::size_t take_over(const Sighting& sighting);

 private:
  struct Process {
    int peer = 0;
    pid_t id = 0;
    std::string program;
  };
  void number_processes();
  void count_occurrences();

  std::vector<Process> processes_;
  std::vector<Sighting> all_;                ///< `process` is the peer until finish()
  std::vector<std::uint32_t> correlations_;  ///< the correlations of a trace: one a sighting
  bool is_finished_ = false;
};

}  // namespace warpmeter::profile

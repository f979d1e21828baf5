// SPDX-License-Identifier: MIT
// How often each instruction of a launch's machine code is executed. Who can follow machine code
// (collector/model/counts/steps) is asked by the launch, which knows when memory is as the kernel
// finds it, and when the kernel has ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/geometry.h"

namespace warpmeter::model {

class DeviceMemory;
struct LaunchOutcome;
struct Program;

/// One machine instruction.
struct Execution {
  std::uint64_t warps = 0;    ///< times that a warp executed it, also with all lanes guarded off
  std::uint64_t threads = 0;  ///< active threads, over those times
  /// Those of them that its guard let pass; nothing where the guard is not known.
  std::optional<std::uint64_t> passed;
  /// Those of them that jumped or ended, where a predicate beside the guard decides that; else as
  /// `passed`. Nothing where hardware's number is not known.
  std::optional<std::uint64_t> acted;
  std::uint64_t parted = 0;  ///< warps whose threads go on at two places
  /// Issues of it that hardware counts in its sums, and not for the instruction.
  std::uint64_t warps_again = 0, threads_again = 0;
  bool threads_vary = false;  ///< hardware's sums may count threads of it more often
};

struct Executions {
  std::vector<Execution> of;  ///< by the instruction's number in the kernel's code; empty: doubt
  std::string doubt;          ///< why nobody knows; the end of a sentence
  std::string time_doubt;     ///< why hardware's may differ from these; empty: they do not
  /// Requests of the loads and stores of global and shared memory, by the line of the PTX; nothing
  /// where a guard is not known.
  std::map<int, std::optional<std::uint64_t>> requests;

  std::uint64_t warps() const {
    std::uint64_t sum = 0;
    for (const Execution& one : of) sum += one.warps + one.warps_again;
    return sum;
  }
  std::uint64_t threads() const {
    std::uint64_t sum = 0;
    for (const Execution& one : of) sum += one.threads + one.threads_again;
    return sum;
  }
  bool threads_vary() const {
    return std::any_of(of.begin(), of.end(), [](const Execution& one) { return one.threads_vary; });
  }
  /// Adds another launch of the same code.
  Executions& operator+=(const Executions& other);
};

/// Gives the executions a doubt where an access of the PTX made another number of requests in the
/// launch than the machine code that was followed.
void compare_requests(Executions& executions, const Program& program, const LaunchOutcome& outcome);

/// A launch that is followed.
class FollowedLaunch {
 public:
  virtual ~FollowedLaunch() = default;
  /// To be called once, after the launch; `memory` is as the kernel left it.
  virtual Executions end(const DeviceMemory& memory) = 0;
};

class MachineSteps {
 public:
  virtual ~MachineSteps() = default;
  /// To be called before the launch; all that it is given must outlive the result.
  virtual std::unique_ptr<FollowedLaunch> follow(const Geometry& geometry,
                                                 std::span<const std::byte> parameters,
                                                 const DeviceMemory& memory,
                                                 unsigned threads) const = 0;
};

}  // namespace warpmeter::model

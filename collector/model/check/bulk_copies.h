// SPDX-License-Identifier: MIT
// Copies of whole stretches that run on while their threads do (cp.async.bulk): which bytes of
// shared memory they may still write or read. The machine copies at once; the hardware has written
// for certain when somebody has waited for the phase of the barrier object that counts the bytes,
// and read when the thread that asked has waited for the copy's group.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

struct Stretch {
  std::uint64_t begin = 0, end = 0;  ///< in shared memory
  std::uint32_t instruction = 0, thread = 0;
  bool is_read = false;                 ///< true for a store's source, else loaded to
  std::optional<std::uint64_t> object;  ///< that counts what is loaded: its place in shared memory
  bool phase = false;                   ///< the phase of the object, when it was told
  std::uint32_t group = 0;              ///< the group of what is stored; 0: none yet
};

class BulkCopies {
 public:
  void start_block();
  void start(const Stretch& stretch);
  /// An object counts the loads of the thread, in its phase of now.
  void count(std::uint32_t thread, std::uint64_t object, bool phase);
  /// Somebody has waited for the phase before this one.
  void wait(std::uint64_t object, bool phase);
  /// An instruction of one thread that puts copies in a group, or waits for groups.
  void advance(const CopyInfo& info, std::uint32_t thread);
  /// Those that load and that nobody has waited for.
  std::vector<Stretch> loads() const;
  /// A copy that an access of these bytes may meet; null: there is none.
  const Stretch* under_way(std::uint64_t offset, std::uint32_t width, bool writes) const;

 private:
  std::vector<Stretch> stretches_;
  std::unordered_map<std::uint32_t, std::uint32_t> groups_;  ///< so many, of each thread
};

}  // namespace warpmeter::model::check

// SPDX-License-Identifier: MIT
// Pages that several processes of a program map: a file without a name, which another process opens
// through the descriptor of the one that made it. Memory and events that processes share lie there.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace warpmeter::runtime {

/// Where another process finds them: what a handle of cudaIpc… says.
struct SharedPages {
  pid_t process = 0;  ///< that made them; 0: there are none
  int descriptor = -1;
  std::uint64_t token = 0;  ///< no two have the same one, though descriptors are used again
  std::uint64_t bytes = 0;

  /// The pages of this process, zeroed; none where there is no memory.
  static SharedPages make(std::uint64_t bytes);
  /// Takes them back: who has mapped them keeps them.
  void drop();
};

/// Maps those of any process, at an address or anywhere; null where they are gone.
void* map_pages(const SharedPages& pages, void* at = nullptr);

/// True if a process has ended, also where its parent has not asked for it yet.
bool has_ended(pid_t process);

}  // namespace warpmeter::runtime

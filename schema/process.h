// SPDX-License-Identifier: MIT
// Which process writes a run, and whether it still lives. A process id means something only within
// one boot of one machine and one namespace (containers), and is used again later; its start time
// tells two users of a number apart.
#pragma once

#include <cstdint>
#include <string>

namespace warpmeter::schema {

struct ProcessIdentity {
  std::string host, boot_id;
  std::string name_space;  ///< the name space of process ids: "pid:[4026531836]"
  std::int64_t id = 0;
  std::int64_t start_ticks = 0;  ///< since the boot

  static ProcessIdentity of_this_process();
  /// A process of this machine and container.
  static ProcessIdentity of(std::int64_t id);
};

enum class Liveness { alive, gone, unknown };

/// unknown: it runs on another machine or in another container.
Liveness liveness(const ProcessIdentity& process);

}  // namespace warpmeter::schema

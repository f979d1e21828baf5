// SPDX-License-Identifier: MIT
#include "base/host_cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace warpmeter {

unsigned usable_cores() {
  cpu_set_t cores;
  // Fails on machines of more than CPU_SETSIZE cores.
  const int count = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
  return count > 0 ? static_cast<unsigned>(count)
                   : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace warpmeter

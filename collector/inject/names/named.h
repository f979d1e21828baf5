// SPDX-License-Identifier: MIT
// The names that the program gives by NVTX to its devices, contexts, streams and threads. Whoever
// knows the numbers of what has been named asks to be told, and hears of earlier names too: a
// program may name a thread before it touches CUDA. Wide names are not read: nvprof did not take
// them either.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace warpmeter::inject {

/// The things that a program names by NVTX.
enum class Resource : std::uint8_t { device, context, stream, thread };

struct Named {
  Resource resource = Resource::stream;
  std::uint64_t handle =
      0;  ///< as the program has it: a device's ordinal, a thread's id, a pointer
  std::string name;
};

/// `tell` is called for the names that were given so far, and in the naming thread from now on.
void tell_names(const std::function<void(const Named&)>& tell);
/// The program names something.
void take_name(Named named);

}  // namespace warpmeter::inject

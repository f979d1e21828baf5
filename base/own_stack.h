// SPDX-License-Identifier: MIT
// Room on the stack for our own code in programs of others. A program's thread may have a stack of
// 16 KiB, and may call from a coroutine or from a signal handler, whose stacks it made itself. Our
// code needs more. So a call that finds less room runs on a stack of our own, on the same thread:
// the thread's variables, its identity and its signals stay what they are.
//
// The system knows where the stack of a thread lies, and nobody knows where that of a coroutine
// does. Outside of the thread's stack a call always runs on one of ours.
//
// A usual thread stays on its own stack: collectors of garbage walk it from the stack pointer on.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

namespace warpmeter {

/// Addresses of the stack pointer that leave enough room below.
struct StackRoom {
  std::uintptr_t begin = 0, bytes = 0;
  bool holds(const void* here) const {
    return reinterpret_cast<std::uintptr_t>(here) - begin < bytes;
  }
};
/// The room of the stack that this thread is on; none until it is known.
extern constinit thread_local StackRoom stack_room [[gnu::tls_model("initial-exec")]];

/// Code that may interrupt any other must not ask where the thread's stack lies: that allocates.
enum class StackUser : std::uint8_t { call, interrupting };

/// Runs the work where there is room. Errors that it throws pass through.
void run_with_room(void (*run)(void*), void* work, StackUser user);

/// The result of `work()`, which has at least 256 KiB of stack.
template <StackUser user = StackUser::call, class Work>
auto with_room(const Work& work) -> decltype(work()) {
  using Result = decltype(work());
  if (stack_room.holds(__builtin_frame_address(0))) [[likely]]
    return work();
  if constexpr (std::is_void_v<Result>) {
    run_with_room([](void* given) { (*static_cast<const Work*>(given))(); },
                  const_cast<Work*>(&work), user);
  } else {
    struct Job {
      const Work& work;
      std::optional<Result> result;
    } job{work, {}};
    run_with_room(
        [](void* given) {
          Job& one = *static_cast<Job*>(given);
          one.result.emplace(one.work());
        },
        &job, user);
    return *std::move(job.result);
  }
}

}  // namespace warpmeter

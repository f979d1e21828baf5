// SPDX-License-Identifier: MIT
// Where the library begins: preloaded into the program that `warpmeter profile -b model` starts,
// and into its children. A process that has no CUDA in it is left alone.
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "base/own_stack.h"
#include "base/sanitizer.h"
#include "collector/inject/protocol.h"
#include "collector/runtime/entry/assembler.h"
#include "collector/runtime/entry/redirect.h"
#include "collector/runtime/entry/started.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

/// Before all other libraries (-z initfirst), the C library too: what those that the program is
/// linked with register as they are initialised would be lost otherwise.
[[gnu::constructor]] void begin(int count, char** arguments, char** variables) {
  if (environ == nullptr) environ = variables;
  if (std::getenv(inject::socket_variable) == nullptr) return;
  with_room([&] {
    look_at_arguments(count, arguments);
    remember_listener();
    redirect_everything();
    if (redirected_objects() > 0) Process::announce();
  });
}

/// After the program's own destructors, which may free what it has: this library was there before
/// the program.
[[gnu::destructor]] void end() {
  with_room([] {
    keep_assembled();
    if (!Process::exists()) return Process::end_unused();
    Process& process = Process::get();
    if (!process.is_fork()) {
      const std::lock_guard lock(process.mutex());
      wait_for_kernels(process);
    }
    process.end();
  });
}

}  // namespace
}  // namespace warpmeter::runtime

#ifdef WARPMETER_HAS_ADDRESS_SANITIZER
/// A build for tests needs this: the program's memory is its own business, and a fault in it ours
/// to explain. NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1";
}
#endif

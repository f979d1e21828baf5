// SPDX-License-Identifier: MIT
#include "collector/runtime/check/host_fault.h"

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "base/own_stack.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/runtime/check/access_width.h"
#include "collector/runtime/check/own_signals.h"

namespace warpmeter::runtime {
namespace {

const Memory* known = nullptr;
Checks* telling = nullptr;

/// Pages that this thread's instruction may have: more than two operands in memory has none, each
/// of which may lie in two pages.
struct Stepping {
  std::array<std::uint64_t, 8> addresses;
  std::size_t count;
};
thread_local Stepping stepping [[gnu::tls_model("initial-exec")]];

constexpr greg_t trap_flag = 0x100;

/// Lets the instruction that has failed have the page, and comes back behind it.
void step(std::uint64_t address, ucontext_t& context) {
  if (stepping.count < stepping.addresses.size()) {
    stepping.addresses[stepping.count++] = address;
    context.uc_mcontext.gregs[REG_EFL] |= trap_flag;
  }
  telling->races().open({address, address + 1});
}

void end_step(int signal, siginfo_t* info, void* given) {
  if (stepping.count == 0) return pass_on(signal, info, given);
  for (std::size_t i = 0; i < stepping.count; ++i) {
    const std::uint64_t address = stepping.addresses[i];
    telling->races().close_again({address, address + 1});
  }
  stepping.count = 0;
  static_cast<ucontext_t*>(given)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

/// In a signal handler nothing is allocated; the tables of blocks are only read.
void say_device_memory(std::uint64_t address, bool writes) {
  const Block* block = known->find(address);
  char text[512];
  const int bytes =
      block != nullptr
          ? std::snprintf(
                text, sizeof text, "warpmeter: host code %s device memory: byte %llu of %s\n",
                writes ? "writes" : "reads",
                static_cast<unsigned long long>(address - block->address), block->name.c_str())
          : std::snprintf(text, sizeof text,
                          "warpmeter: host code %s device memory at %p, where nothing is "
                          "allocated\n",
                          writes ? "writes" : "reads", reinterpret_cast<void*>(address));
  if (bytes <= 0) return;
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text, std::min(static_cast<std::size_t>(bytes), sizeof text));
}

void explain(int signal, siginfo_t* info, void* given) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  auto& context = *static_cast<ucontext_t*>(given);
  const auto* instruction = reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
  const bool writes = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
  const bool is_access = info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR;
  // Without an address: one that no pointer can have, or nothing but a signal.
  if (!is_access) return pass_on(signal, info, given);
  if (telling != nullptr) {
    const auto look = [&] {
      return telling->races().host_touches(
          address, instruction == info->si_addr ? 1 : accessed_bytes(instruction), writes,
          instruction);
    };
    switch (with_room<StackUser::interrupting>(look)) {
      case Races::HostAccess::again:
        return;
      case Races::HostAccess::step:
        return step(address, context);
      case Races::HostAccess::not_ours:
        break;
    }
  }
  const bool is_device = address >= model::first_module_variable && address < model::first_window;
  if (is_device) say_device_memory(address, writes);
  // The code that failed is the program's, none that holds a lock of ours or of malloc.
  if (telling != nullptr) {
    with_room<StackUser::interrupting>(
        [&] { telling->host_touches(address, is_device, writes, instruction); });
  }
  pass_on(signal, info, given);
}

}  // namespace

void catch_host_faults(const Memory& memory, Checks* checks) {
  known = &memory;
  telling = checks;
  handle_signal(SIGSEGV, explain);
  if (checks != nullptr) handle_signal(SIGTRAP, end_step);
}

bool is_catching_host_faults() {
  return is_handled(SIGSEGV, explain) && is_handled(SIGTRAP, end_step);
}

}  // namespace warpmeter::runtime

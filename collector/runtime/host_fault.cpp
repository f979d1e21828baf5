#include "collector/runtime/host_fault.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "collector/model/machine/memory.h"

namespace warpmeter::runtime {
namespace {

const Memory* known = nullptr;
Checks* telling = nullptr;
struct sigaction before {};

/// In a signal handler nothing is allocated; the tables of blocks are only read.
void explain(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  const auto* where = static_cast<const ucontext_t*>(context);
  const auto* instruction = reinterpret_cast<const void*>(where->uc_mcontext.gregs[REG_RIP]);
  const bool writes = (where->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  if (telling != nullptr && telling->races().host_touches(address, writes, instruction)) return;
  const bool is_device = address >= model::first_module_variable && address < model::first_window;
  if (is_device) {
    const Block* block = known->find(address);
    char text[512];
    const int bytes =
        block != nullptr
            ? std::snprintf(
                  text, sizeof text, "warpmeter: host code %s device memory: byte %llu of %s\n",
                  writes ? "writes" : "reads",
                  static_cast<unsigned long long>(address - block->address), block->name.c_str())
            : std::snprintf(
                  text, sizeof text,
                  "warpmeter: host code %s device memory at %p, where nothing is allocated\n",
                  writes ? "writes" : "reads", info->si_addr);
    if (bytes > 0) {
      [[maybe_unused]] const ssize_t written =
          write(STDERR_FILENO, text, std::min(static_cast<std::size_t>(bytes), sizeof text));
      // The code that failed is the program's, none that holds a lock of ours or of malloc.
      if (telling != nullptr) {
        telling->host_touches(address, writes, instruction);
      }
    }
  }
  // Again, with what was there before us.
  sigaction(signal, &before, nullptr);
}

}  // namespace

void catch_host_faults(const Memory& memory, Checks* checks) {
  known = &memory;
  telling = checks;
  struct sigaction action {};
  action.sa_sigaction = explain;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
}

bool is_catching_host_faults() {
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && now.sa_sigaction == explain;
}

}  // namespace warpmeter::runtime

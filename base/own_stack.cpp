// SPDX-License-Identifier: MIT
#include "base/own_stack.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/sanitizer.h"

#ifdef WARPMETER_HAS_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

// Who walks the stack gets past this function: rbp says where the caller's frame is.
asm(R"(
  .text
  .p2align 4
  .hidden warpmeter_call_on
  .globl warpmeter_call_on
  .type warpmeter_call_on, @function
warpmeter_call_on:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  leave
  .cfi_def_cfa %rsp, 8
  retq
  .cfi_endproc
  .size warpmeter_call_on, . - warpmeter_call_on
)");
/// Calls `run(work)` with the stack pointer at `top`, a multiple of 16.
extern "C" [[gnu::visibility("hidden")]] void warpmeter_call_on(void* top, void (*run)(void*),
                                                                void* work);

namespace warpmeter {

constinit thread_local StackRoom stack_room;

namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::uintptr_t kib = 1024;
#ifdef WARPMETER_HAS_ADDRESS_SANITIZER
constexpr std::uintptr_t needed = 1024 * kib;
#else
constexpr std::uintptr_t needed = 256 * kib;
#endif
/// Only what is touched of it takes memory.
constexpr std::uintptr_t own_bytes = 8192 * kib;

struct Stack {
  std::uintptr_t begin = 0, end = 0;
  StackRoom room() const {
    const std::uintptr_t bytes = end - begin;
    return bytes > needed ? StackRoom{begin + needed, bytes - needed} : StackRoom{};
  }
};

/// The main thread's: from the name of the program, which is the last text on it, down to where the
/// system lets it grow. A larger limit than ours is taken for ours.
Stack main_stack() {
  const auto name = getauxval(AT_EXECFN);
  rlimit limit{};
  if (name == 0 || getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  const std::uintptr_t last = name + std::strlen(reinterpret_cast<const char*>(name)) + 1;
  const std::uintptr_t end = (last + sizeof(void*) + page - 1) / page * page;
  return {end - std::min<std::uintptr_t>(limit.rlim_cur, own_bytes), end};
}

/// Not asked for the main thread, for which the C library reads a file.
Stack stack_of_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  return {at, at + bytes};
}

/// Null where the machine has no more memory. Below it lies a page that nobody may touch.
void* map_stack() {
  void* const mapped = ::mmap(nullptr, page + own_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  ::mprotect(mapped, page, PROT_NONE);
  ::madvise(mapped, page + own_bytes, MADV_NOHUGEPAGE);
  return mapped;
}

void unmap_stack(void* mapped) { ::munmap(mapped, page + own_bytes); }

/// The stack that a thread keeps for its next call.
struct Kept {
  void* mapped = nullptr;
  bool is_used = false, is_known = false;
  StackRoom of_thread;
};
constinit thread_local Kept kept [[gnu::tls_model("initial-exec")]];

/// Unmaps a thread's stack when it ends. A destructor of a thread's variable would take memory of
/// the program's.
class AtEndOfThread {
 public:
  AtEndOfThread() : is_made_(pthread_key_create(&key_, free_kept) == 0) {}
  bool keep(void* mapped) const { return is_made_ && pthread_setspecific(key_, mapped) == 0; }

 private:
  static void free_kept(void* mapped) {
    kept.mapped = nullptr;
    unmap_stack(mapped);
  }
  pthread_key_t key_{};
  bool is_made_;
};
const AtEndOfThread at_end_of_thread;

/// A stack for one call: the thread's kept one, or another while that is in use.
class TakenStack {
 public:
  explicit TakenStack(StackUser user) : is_kept_(!kept.is_used) {
    const int error = errno;
    mapped_ = is_kept_ && kept.mapped != nullptr ? kept.mapped : map_stack();
    if (mapped_ != nullptr && is_kept_ && kept.mapped == nullptr) {
      is_kept_ = user == StackUser::call && at_end_of_thread.keep(mapped_);
      if (is_kept_) kept.mapped = mapped_;
    }
    if (is_kept_) kept.is_used = true;
    if (mapped_ != nullptr) stack_room = Stack{begin(), end()}.room();
    errno = error;
  }
  ~TakenStack() {
    stack_room = before_;
    if (is_kept_) {
      kept.is_used = false;
    } else if (mapped_ != nullptr) {
      const int error = errno;
      unmap_stack(mapped_);
      errno = error;
    }
  }
  TakenStack(const TakenStack&) = delete;
  TakenStack& operator=(const TakenStack&) = delete;

  bool is_there() const { return mapped_ != nullptr; }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(mapped_) + page; }
  std::uintptr_t end() const { return begin() + own_bytes; }

 private:
  const StackRoom before_ = stack_room;
  bool is_kept_;
  void* mapped_ = nullptr;
};

#ifdef WARPMETER_HAS_ADDRESS_SANITIZER
/// The sanitizer's view of the change.
class SwitchedSanitizer {
 public:
  explicit SwitchedSanitizer(const TakenStack& stack) {
    __sanitizer_start_switch_fiber(&before_, reinterpret_cast<const void*>(stack.begin()),
                                   own_bytes);
  }
  ~SwitchedSanitizer() { __sanitizer_finish_switch_fiber(before_, nullptr, nullptr); }
  SwitchedSanitizer(const SwitchedSanitizer&) = delete;
  SwitchedSanitizer& operator=(const SwitchedSanitizer&) = delete;

 private:
  void* before_ = nullptr;
};
/// The same on the stack that was taken.
class Arrived {
 public:
  Arrived() { __sanitizer_finish_switch_fiber(nullptr, &below_, &bytes_); }
  ~Arrived() { __sanitizer_start_switch_fiber(nullptr, below_, bytes_); }
  Arrived(const Arrived&) = delete;
  Arrived& operator=(const Arrived&) = delete;

 private:
  const void* below_ = nullptr;
  std::size_t bytes_ = 0;
};
#else
struct SwitchedSanitizer {
  explicit SwitchedSanitizer(const TakenStack&) {}
};
struct Arrived {};
#endif

struct SwitchedWork {
  void (*run)(void*);
  void* given;
};

void run_work(void* given) {
  [[maybe_unused]] const Arrived arrived;
  const auto& work = *static_cast<const SwitchedWork*>(given);
  work.run(work.given);
}

/// Learns where the thread's stack lies, if it may.
void know_thread(const void* here, StackUser user) {
  const Stack main = main_stack();
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  const bool is_on_main = main.begin <= at && at < main.end;
  // A fork of another thread is taken for the main thread, which only costs it a change of stacks.
  const bool is_main = is_on_main || (main.end != 0 && gettid() == getpid());
  if (!is_main && user != StackUser::call) return;
  kept.of_thread = (is_main ? main : stack_of_thread()).room();
  kept.is_known = true;
}

/// True if this thread turns out to be on its own stack, with room.
bool find_room(const void* here, StackUser user) {
  if (!kept.is_known) know_thread(here, user);
  if (!kept.of_thread.holds(here)) return false;
  stack_room = kept.of_thread;
  return true;
}

}  // namespace

void run_with_room(void (*run)(void*), void* work, StackUser user) {
  if (find_room(__builtin_frame_address(0), user)) return run(work);
  const TakenStack stack(user);
  if (!stack.is_there()) return run(work);
  SwitchedWork switched{run, work};
  [[maybe_unused]] const SwitchedSanitizer sanitizer(stack);
  warpmeter_call_on(reinterpret_cast<void*>(stack.end()), run_work, &switched);
}

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
// A program that handles SIGSEGV itself, before and behind its first call of the API: its handler
// is called for what is its own, with the flags and the mask that it asked for, and for nothing of
// what --check finds. With "past": one that goes past the C library, so that nothing can be found.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <sys/syscall.h>
#include <unistd.h>

#include "races.h"
namespace {

sigjmp_buf back;
volatile sig_atomic_t seen = 0;

void plain(int) {
  seen = 1;
  siglongjmp(back, 1);
}
void informed(int, siginfo_t* info, void*) {
  sigset_t now;
  sigprocmask(SIG_SETMASK, nullptr, &now);
  seen = info->si_addr == reinterpret_cast<void*>(64) && sigismember(&now, SIGUSR1) ? 2 : 3;
  siglongjmp(back, 1);
}

/// Which handler an access to nothing comes to.
int handler_of_a_fault() {
  seen = 0;
  if (sigsetjmp(back, 1) == 0) *reinterpret_cast<volatile int*>(64) = 1;
  return seen;
}

}  // namespace

int main(int arguments, char**) {
  std::signal(SIGSEGV, plain);
  int* managed = nullptr;
  CHECKED(cudaMallocManaged(&managed, bytes));
  std::printf("%d", handler_of_a_fault());
  struct sigaction action {
  }, before{};
  action.sa_sigaction = informed;
  action.sa_flags = SA_SIGINFO;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGSEGV, &action, &before);
  std::printf("%d%d", before.sa_handler == plain, handler_of_a_fault());
  sigaction(SIGSEGV, nullptr, &before);
  std::printf("%d\n", before.sa_sigaction == informed);
  if (arguments > 1) {
    struct {
      void (*handler)(int);
      unsigned long flags;
      void (*restorer)();
      unsigned long mask;
    } of_the_system = {SIG_DFL, 0, nullptr, 0};
    syscall(SYS_rt_sigaction, SIGSEGV, &of_the_system, nullptr, 8);
  }
  fill<<<blocks(count), 128>>>(managed, count, 1);
  std::printf("%d\n", managed[0]);  // race: host
  CHECKED(cudaDeviceSynchronize());
  CHECKED(cudaFree(managed));
}

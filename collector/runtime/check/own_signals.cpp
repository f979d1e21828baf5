// SPDX-License-Identifier: MIT
#include "collector/runtime/check/own_signals.h"

#include <atomic>
#include <cstddef>
#include <mutex>

#include "collector/runtime/device/behind.h"

#define WARPMETER_CALL extern "C" [[gnu::visibility("default")]]

namespace warpmeter::runtime {
namespace {

constexpr int own_signals[] = {SIGSEGV, SIGTRAP};

struct Taken {
  std::atomic<bool> is_taken = false;
  struct sigaction theirs {};
};
Taken taken[2];
std::mutex changing;

Taken* taken_of(int signal) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (own_signals[i] == signal && taken[i].is_taken) return &taken[i];
  }
  return nullptr;
}

int real_sigaction(int signal, const struct sigaction* now, struct sigaction* before) {
  static const auto real = behind(&sigaction, "sigaction");
  return real(signal, now, before);
}

int real_mask(int how, const sigset_t* set, sigset_t* before) {
  static const auto real = behind(&pthread_sigmask, "pthread_sigmask");
  return real(how, set, before);
}

/// Without those that are ours: a thread that blocks them would be killed by an access that we let
/// it make.
sigset_t without_own(sigset_t set) {
  for (const int signal : own_signals) {
    if (taken_of(signal) != nullptr) sigdelset(&set, signal);
  }
  return set;
}

}  // namespace

void handle_signal(int signal, SignalHandler handler) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (own_signals[i] != signal) continue;
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    real_sigaction(signal, &action, &taken[i].theirs);
    taken[i].is_taken = true;
  }
}

bool is_handled(int signal, SignalHandler handler) {
  struct sigaction now {};
  return real_sigaction(signal, nullptr, &now) == 0 && now.sa_sigaction == handler;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  Taken* own = taken_of(signal);
  struct sigaction theirs {};
  if (own != nullptr) theirs = own->theirs;
  const bool is_default = theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN;
  if (is_default || (theirs.sa_flags & SA_RESETHAND) != 0) {
    struct sigaction reset {};
    reset.sa_handler = SIG_DFL;
    if (own != nullptr) own->theirs = reset;
  }
  if (is_default) {
    const bool was_sent = info->si_code <= 0;  // by kill(), raise() and their like
    if (was_sent && theirs.sa_handler == SIG_IGN) return;
    // The instruction comes again, and ends the process.
    real_sigaction(signal, &theirs, nullptr);
    if (was_sent) raise(signal);
    return;
  }
  sigset_t before;
  sigset_t blocked = without_own(theirs.sa_mask);
  real_mask(SIG_BLOCK, &blocked, &before);
  if ((theirs.sa_flags & SA_NODEFER) != 0) {
    sigset_t again;
    sigemptyset(&again);
    sigaddset(&again, signal);
    real_mask(SIG_UNBLOCK, &again, nullptr);
  }
  if ((theirs.sa_flags & SA_SIGINFO) != 0) {
    theirs.sa_sigaction(signal, info, context);
  } else {
    theirs.sa_handler(signal);
  }
  real_mask(SIG_SETMASK, &before, nullptr);
}

}  // namespace warpmeter::runtime

using warpmeter::runtime::changing;
using warpmeter::runtime::real_mask;
using warpmeter::runtime::real_sigaction;
using warpmeter::runtime::taken_of;
using warpmeter::runtime::without_own;

WARPMETER_CALL int sigaction(int signal, const struct sigaction* now,
                             struct sigaction* before) noexcept {
  auto* own = taken_of(signal);
  if (own == nullptr) return real_sigaction(signal, now, before);
  const std::lock_guard lock(changing);
  const struct sigaction was = own->theirs;
  if (now != nullptr) own->theirs = *now;
  if (before != nullptr) *before = was;
  return 0;
}

namespace {

sighandler_t install(int signal, sighandler_t handler, int flags) {
  struct sigaction now {
  }, before{};
  now.sa_handler = handler;
  now.sa_flags = flags;
  return sigaction(signal, &now, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

WARPMETER_CALL sighandler_t signal(int signal, sighandler_t handler) noexcept {
  if (taken_of(signal) != nullptr) return install(signal, handler, SA_RESTART);
  static const auto real = warpmeter::runtime::behind(&::signal, "signal");
  return real(signal, handler);
}

// NOLINTNEXTLINE(bugprone-reserved-identifier): the C library's name
WARPMETER_CALL sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  if (taken_of(signal) != nullptr) return install(signal, handler, SA_RESETHAND | SA_NODEFER);
  static const auto real = warpmeter::runtime::behind(&::signal, "__sysv_signal");
  return real(signal, handler);
}

WARPMETER_CALL int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (set == nullptr || how == SIG_UNBLOCK) return real_mask(how, set, before);
  const sigset_t allowed = without_own(*set);
  return real_mask(how, &allowed, before);
}

WARPMETER_CALL int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static const auto real = warpmeter::runtime::behind(&::sigprocmask, "sigprocmask");
  if (set == nullptr || how == SIG_UNBLOCK) return real(how, set, before);
  const sigset_t allowed = without_own(*set);
  return real(how, &allowed, before);
}

#undef WARPMETER_CALL

// SPDX-License-Identifier: MIT
// A handler may call little: no allocation, no C++ library. So paths lie in places of fixed size,
// and a folder is read with the system call that readdir is made of.
#include "base/endings.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace warpmeter {
namespace {

constexpr std::size_t longest_path = 4096;  // PATH_MAX of Linux

enum State { unused, being_written, doomed };

struct Place {
  std::atomic<int> state{unused};
  char path[longest_path] = {};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

std::array<Place, 32> places;
std::atomic<pid_t> owner{0};
std::array<std::atomic<pid_t>, 64> groups;  // 0: none

/// The files directly in a folder. Removing may hide others from the reading: it is read again
/// until nothing was removed.
void empty_folder(int folder) {
  alignas(std::uint64_t) char entries[4096];
  bool any = true;
  while (any) {
    any = false;
    lseek(folder, 0, SEEK_SET);
    for (;;) {
      const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
      if (bytes <= 0) break;
      // getdents64(2): inode and offset of 8 bytes each, the record's length in 2, a type, the name
      for (long at = 0; at < bytes;) {
        std::uint16_t length = 0;
        std::memcpy(&length, entries + at + 16, sizeof length);
        const char* name = entries + at + 19;
        any = unlinkat(folder, name, 0) == 0 || any;
        at += length;
      }
    }
  }
}

void remove_doomed() {
  // A child that has not become its program yet has our handlers and none of our files.
  if (getpid() != owner.load()) return;
  for (Place& place : places) {
    if (place.state.load() != doomed || unlink(place.path) == 0) continue;
    const int folder = ::open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    empty_folder(folder);
    close(folder);
    rmdir(place.path);
  }
}

}  // namespace

void end_by_signal(int signal) {
  const int error = errno;
  end_doomed_groups();
  remove_doomed();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  errno = error;
}

void catch_endings() {
  owner = getpid();
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2, SIGABRT}) {
    struct sigaction action {};
    // Somebody else's handler (a sanitizer's) stays too.
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_handler = end_by_signal;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

bool catches_endings() { return owner.load() == getpid(); }

void end_doomed_groups() {
  if (!catches_endings()) return;
  for (const std::atomic<pid_t>& group : groups) {
    if (const pid_t leader = group.load(); leader > 1) kill(-leader, SIGKILL);
  }
}

DoomedGroup::DoomedGroup(pid_t leader) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    pid_t expected = 0;
    if (!groups[i].compare_exchange_strong(expected, leader)) continue;
    place_ = static_cast<int>(i);
    return;
  }
}

DoomedGroup::~DoomedGroup() {
  if (place_ >= 0) groups[static_cast<std::size_t>(place_)] = 0;
}

Doomed::Doomed(const std::string& path) {
  if (path.size() >= longest_path) return;
  for (std::size_t i = 0; i < places.size(); ++i) {
    int expected = unused;
    if (!places[i].state.compare_exchange_strong(expected, being_written)) continue;
    std::memcpy(places[i].path, path.c_str(), path.size() + 1);
    places[i].state = doomed;
    place_ = static_cast<int>(i);
    return;
  }
}

Doomed::~Doomed() {
  if (place_ >= 0) places[static_cast<std::size_t>(place_)].state = unused;
}

struct SignalsHeld::Mask {
  sigset_t set;
};

SignalsHeld::SignalsHeld() : before_(new Mask) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_->set);
}

SignalsHeld::~SignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_->set, nullptr);
  delete before_;
}

}  // namespace warpmeter

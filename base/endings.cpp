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
using Processes = std::array<std::atomic<pid_t>, 64>;  // 0: none
Processes groups, processes;
std::atomic<bool> was_asked{false};

/// The place that remembers it; -1: all are taken.
int remembered(Processes& all, pid_t process) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    pid_t expected = 0;
    if (all[i].compare_exchange_strong(expected, process)) return static_cast<int>(i);
  }
  return -1;
}

void forget(Processes& all, int place) {
  if (place >= 0) all[static_cast<std::size_t>(place)] = 0;
}

constexpr int deepest = 4;  // our folders have one more in them

void empty_folder(int folder, int depth);

/// False where it stays: a folder that is not empty, or another's.
bool remove_entry(int folder, const char* name, int depth) {
  if (unlinkat(folder, name, 0) == 0) return true;
  const bool is_above = std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
  if (is_above || depth == deepest) return false;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return false;
  empty_folder(inner, depth + 1);
  close(inner);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/// All that a folder holds. Removing may hide others from the reading: it is read again until
/// nothing was removed.
void empty_folder(int folder, int depth) {
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
        any = remove_entry(folder, name, depth) || any;
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
    empty_folder(folder, 0);
    close(folder);
    rmdir(place.path);
  }
}

}  // namespace

void end_by_signal(int signal) {
  const int error = errno;
  end_doomed_groups();
  if (catches_endings()) {
    for (const std::atomic<pid_t>& each : processes) {
      if (const pid_t process = each.load(); process > 1) kill(process, SIGKILL);
    }
  }
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
  was_asked = true;
  for (const std::atomic<pid_t>& group : groups) {
    if (const pid_t leader = group.load(); leader > 1) kill(-leader, SIGKILL);
  }
}

bool is_ending() { return was_asked.load(); }

// The signal may have come since the group was started.
DoomedGroup::DoomedGroup(pid_t leader) : place_(remembered(groups, leader)) {
  if (is_ending()) kill(-leader, SIGKILL);
}

DoomedGroup::~DoomedGroup() { forget(groups, place_); }

DoomedProcess::DoomedProcess(pid_t process) : place_(remembered(processes, process)) {}

DoomedProcess::~DoomedProcess() { forget(processes, place_); }

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

SignalsHeld::SignalsHeld() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeld::~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace warpmeter

// SPDX-License-Identifier: MIT
#include "collector/inject/turn.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>

namespace warpmeter::inject {
namespace {

constexpr const char* machine_wide = "/tmp/warpmeter-turns";
/// A process of another session may be stopped, or hang in its kernel.
constexpr int longer_for_strangers = 12;
constexpr const char* has = "has ";
constexpr const char* keeps = "keeps ";

/// The open lock files. A child that the program forks would hold a lock that its parent leaves.
std::array<std::atomic<int>, 64>
    files;  // nothing needs more; each is one more than the number, 0: none

void close_in_child() {
  for (std::atomic<int>& file : files) {
    if (const int number = file.exchange(0); number != 0) close(number - 1);
  }
}

void note(int file) {
  static const int registered = pthread_atfork(nullptr, nullptr, close_in_child);
  if (file < 0 || registered != 0) return;
  for (std::atomic<int>& place : files) {
    int none = 0;
    if (place.compare_exchange_strong(none, file + 1)) return;
  }
}

void forget(int file) {
  for (std::atomic<int>& place : files) {
    int noted = file + 1;
    if (place.compare_exchange_strong(noted, 0)) return;
  }
}

/// Every user has to get at it, and nobody follows a link that another user made.
int open_lock(const std::filesystem::path& file) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  constexpr mode_t for_all = 0666;
  int descriptor = open(file.c_str(), flags);
  if (descriptor < 0 && errno == ENOENT) {
    descriptor = open(file.c_str(), flags | O_CREAT | O_EXCL, for_all);
    if (descriptor >= 0) fchmod(descriptor, for_all);
    if (descriptor < 0 && errno == EEXIST) descriptor = open(file.c_str(), flags);
  }
  note(descriptor);
  return descriptor;
}

/// False, with errno, when the file cannot be locked: EWOULDBLOCK where another process has it.
bool lock(int file, int operation) {
  int result = 0;
  do {
    result = flock(file, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

std::filesystem::path folder_of_turns(const std::filesystem::path& session) {
  constexpr mode_t for_all = 01777;
  if (mkdir(machine_wide, for_all) == 0) chmod(machine_wide, for_all);
  struct stat status {};
  const bool is_there = lstat(machine_wide, &status) == 0 && S_ISDIR(status.st_mode) &&
                        access(machine_wide, W_OK | X_OK) == 0;
  return is_there ? machine_wide : session;
}

Turn::Turn(const std::filesystem::path& folder, const std::string& device, std::string session)
    : session_(std::move(session)),
      turn_(open_lock(folder / (device + ".turn"))),
      wanted_(open_lock(folder / (device + ".wanted"))) {}

Turn::~Turn() {
  for (const int file : {turn_, wanted_}) {
    if (file < 0) continue;
    forget(file);
    close(file);
  }
}

bool Turn::take(std::chrono::milliseconds patience) {
  using namespace std::chrono_literals;
  if (turn_ < 0 || wanted_ < 0) return true;
  lock(wanted_, LOCK_SH);
  std::string waited_for;
  auto since = std::chrono::steady_clock::now();
  bool is_taken = false;
  for (;;) {
    // The program may have closed our files: then there are no turns.
    is_taken = lock(turn_, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
    if (is_taken) break;
    const auto now = std::chrono::steady_clock::now();
    if (std::string words = holder(); words != waited_for) {
      waited_for = std::move(words);
      since = now;
    }
    if (now - since >= limit(waited_for, patience)) break;
    std::this_thread::sleep_for(500us);
  }
  if (is_taken) {
    was_left_ = !holder().empty();
    write_holder(has + session_);
  }
  lock(wanted_, LOCK_UN);
  return is_taken;
}

std::chrono::milliseconds Turn::limit(const std::string& holder,
                                      std::chrono::milliseconds patience) const {
  constexpr std::chrono::hours for_ever(24 * 365);  // max() would overflow in a comparison
  if (holder == has + session_) return for_ever;
  return holder.starts_with(keeps) ? patience : patience * longer_for_strangers;
}

std::string Turn::holder() const {
  std::array<char, 4096> words{};
  const ssize_t size = pread(turn_, words.data(), words.size(), 0);
  return {words.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void Turn::write_holder(const std::string& words) const {
  // Where the disk is full, others wait for a process of another session.
  if (ftruncate(turn_, 0) != 0 || pwrite(turn_, words.data(), words.size(), 0) < 0) return;
}

void Turn::keep() {
  if (turn_ >= 0) write_holder(keeps + session_);
}

void Turn::give() {
  if (turn_ < 0) return;
  write_holder("");
  lock(turn_, LOCK_UN);
}

bool Turn::is_wanted() const {
  if (wanted_ < 0) return false;
  if (!lock(wanted_, LOCK_EX | LOCK_NB)) return errno == EWOULDBLOCK;
  lock(wanted_, LOCK_UN);
  return false;
}

}  // namespace warpmeter::inject

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

/// Regular files alone: nobody follows a link, or waits at a pipe, that another user made.
int open_regular(const std::filesystem::path& path, int more_flags = 0) {
  constexpr mode_t for_all = 0666;
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int number = open(path.c_str(), flags | more_flags, for_all);
  struct stat status {};
  if (number < 0 || (fstat(number, &status) == 0 && S_ISREG(status.st_mode))) return number;
  ::close(number);
  errno = EINVAL;
  return -1;
}

/// Makes the file for every user, whatever the program's mask is.
int open_or_make(const std::filesystem::path& path) {
  int number = open_regular(path);
  if (number >= 0 || errno != ENOENT) return number;
  number = open_regular(path, O_CREAT | O_EXCL);
  if (number >= 0) fchmod(number, 0666);
  return number < 0 && errno == EEXIST ? open_regular(path) : number;
}

/// Those that a child has to close; one a device.
std::array<std::atomic<Turn*>, 64> turns;

void close_in_child() {
  for (const std::atomic<Turn*>& turn : turns) {
    if (Turn* const mine = turn; mine != nullptr) mine->close();
  }
}

/// Puts `then` in the place of `now`.
void replace(Turn* now, Turn* then) {
  for (std::atomic<Turn*>& turn : turns) {
    Turn* expected = now;
    if (turn.compare_exchange_strong(expected, then)) return;
  }
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

LockFile::LockFile(std::filesystem::path path)
    : path_(std::move(path)), number_(open_or_make(path_)) {
  struct stat status {};
  if (number_ < 0 || fstat(number_, &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool LockFile::is_open() const {
  struct stat status {};
  return number_ >= 0 && fstat(number_, &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

bool LockFile::lock(int operation) const {
  errno = EBADF;
  if (!is_open()) return false;
  int result = 0;
  do {
    result = flock(number_, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

std::string LockFile::text() const {
  std::array<char, 4096> text{};
  const ssize_t size = pread(number_, text.data(), text.size(), 0);
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// Opens it anew: a file of the program's own is never written to. Where the disk is full, others
/// wait for a process of another session.
void LockFile::write(const std::string& text) const {
  const int number = open_regular(path_, O_TRUNC);
  if (number < 0) return;
  if (pwrite(number, text.data(), text.size(), 0) < 0) errno = 0;
  ::close(number);
}

void LockFile::close() {
  if (is_open()) ::close(number_);
  number_ = -1;
}

Turn::Turn(const std::filesystem::path& folder, const std::string& device, std::string session)
    : session_(std::move(session)),
      turn_(folder / (device + ".turn")),
      wanted_(folder / (device + ".wanted")) {
  static const int registered = pthread_atfork(nullptr, nullptr, close_in_child);
  if (registered == 0) replace(nullptr, this);
}

Turn::~Turn() { replace(this, nullptr); }

bool Turn::take(std::chrono::milliseconds patience) {
  using namespace std::chrono_literals;
  if (!turn_.is_open() || !wanted_.is_open()) return true;
  wanted_.lock(LOCK_SH);
  std::string waited_for;
  auto since = std::chrono::steady_clock::now();
  bool is_taken = false;
  for (;;) {
    // Another thread may have closed our files: then there are no turns.
    is_taken = turn_.lock(LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
    if (is_taken) break;
    const auto now = std::chrono::steady_clock::now();
    if (std::string holder = turn_.text(); holder != waited_for) {
      waited_for = std::move(holder);
      since = now;
    }
    if (now - since >= limit(waited_for, patience)) break;
    std::this_thread::sleep_for(500us);
  }
  if (is_taken && turn_.is_open()) {
    was_left_ = !turn_.text().empty();
    turn_.write(has + session_);
  }
  wanted_.lock(LOCK_UN);
  return is_taken;
}

std::chrono::milliseconds Turn::limit(const std::string& holder,
                                      std::chrono::milliseconds patience) const {
  constexpr std::chrono::hours for_ever(24 * 365);  // max() would overflow in a comparison
  if (holder == has + session_) return for_ever;
  return holder.starts_with(keeps) ? patience : patience * longer_for_strangers;
}

void Turn::keep() {
  if (turn_.is_open()) turn_.write(keeps + session_);
}

void Turn::give() {
  if (!turn_.is_open()) return;
  turn_.write("");
  turn_.lock(LOCK_UN);
}

bool Turn::is_wanted() const {
  if (!wanted_.lock(LOCK_EX | LOCK_NB)) return errno == EWOULDBLOCK;
  wanted_.lock(LOCK_UN);
  return false;
}

void Turn::close() {
  turn_.close();
  wanted_.close();
}

}  // namespace warpmeter::inject

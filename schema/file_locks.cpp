// SPDX-License-Identifier: MIT
#include "schema/file_locks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <map>
#include <mutex>
#include <utility>

namespace warpmeter::schema {
namespace {

/// The first byte that SQLite locks in a database (its "File Format", "The Lock-Byte Page"). The
/// index of a write-ahead log is locked at lower bytes.
constexpr off_t first_of_database = 0x40000000;

using FileId = std::pair<dev_t, ino_t>;

/// Connections of one SQLite share the locks of a database, and unlock through any of their
/// descriptors. The lock of an open file needs one and the same: that of this table.
struct Locked {
  std::mutex mutex;
  std::map<FileId, int> descriptors;
};
Locked& locked() {
  static auto* instance = new Locked;  // connections may close while the process ends
  return *instance;
}

int open_again(int descriptor) {
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const int again = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  return again >= 0 ? again : fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}

int lock_open_file(int descriptor, int command, struct flock& lock) {
  struct flock asked = lock;
  asked.l_pid = 0;  // the kernel asks for it
  const int result = fcntl(descriptor, command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, &asked);
  if (result < 0 && errno == EINVAL)
    return fcntl(descriptor, command, &lock);  // no such locks here
  if (result == 0 && command == F_GETLK) lock = asked;
  return result;
}

int lock_database(int descriptor, int command, struct flock& lock) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return -1;
  const bool is_end = lock.l_type == F_UNLCK && lock.l_start == 0 && lock.l_len == 0;
  Locked& all = locked();
  const std::lock_guard guard(all.mutex);
  const auto [entry, is_new] = all.descriptors.try_emplace({status.st_dev, status.st_ino}, -1);
  if (is_new && !is_end) entry->second = open_again(descriptor);
  const int used = entry->second >= 0 ? entry->second : descriptor;
  const int result = lock_open_file(used, command, lock);
  if (is_end || entry->second < 0 || (is_new && result != 0)) {
    const int error = errno;
    if (entry->second >= 0) ::close(entry->second);
    all.descriptors.erase(entry);
    errno = error;
  }
  return result;
}

/// fcntl as SQLite calls it.
int lock_file(int descriptor, int command, ...) {
  std::va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);  // or a number, which passes as it is
  va_end(arguments);
  if (command != F_SETLK && command != F_GETLK) return fcntl(descriptor, command, argument);
  auto& lock = *static_cast<struct flock*>(argument);
  const bool is_all = lock.l_start == 0 && lock.l_len == 0;
  return is_all || lock.l_start >= first_of_database ? lock_database(descriptor, command, lock)
                                                     : lock_open_file(descriptor, command, lock);
}

}  // namespace

void lock_by_open_file() {
  static const int once = [] {
    sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
    if (files == nullptr || files->iVersion < 3 || files->xSetSystemCall == nullptr) return 0;
    return files->xSetSystemCall(files, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(lock_file));
  }();
  static_cast<void>(once);
}

}  // namespace warpmeter::schema

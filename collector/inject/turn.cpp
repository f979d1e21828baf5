// SPDX-License-Identifier: MIT
#include "collector/inject/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace warpmeter::inject {
namespace {

int open_lock(const std::filesystem::path& file) {
  return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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

Turn::Turn(const std::filesystem::path& folder, const std::string& device)
    : kept_(folder / (device + ".kept")),
      turn_(open_lock(folder / (device + ".turn"))),
      wanted_(open_lock(folder / (device + ".wanted"))) {}

Turn::~Turn() {
  if (turn_ >= 0) close(turn_);
  if (wanted_ >= 0) close(wanted_);
}

bool Turn::take(std::chrono::milliseconds patience) {
  using namespace std::chrono_literals;
  if (turn_ < 0 || wanted_ < 0) return true;
  lock(wanted_, LOCK_SH);
  const auto begin = std::chrono::steady_clock::now();
  bool is_taken = false;
  for (;;) {
    // The program may have closed our files: then there are no turns.
    is_taken = lock(turn_, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK;
    const bool is_kept = !is_taken && access(kept_.c_str(), F_OK) == 0;
    if (is_taken || (is_kept && std::chrono::steady_clock::now() - begin >= patience)) break;
    std::this_thread::sleep_for(500us);
  }
  if (is_taken) unlink(kept_.c_str());
  lock(wanted_, LOCK_UN);
  return is_taken;
}

void Turn::keep() {
  const int file = open_lock(kept_);
  if (file >= 0) close(file);
}

void Turn::give() {
  if (turn_ < 0) return;
  unlink(kept_.c_str());
  lock(turn_, LOCK_UN);
}

bool Turn::is_wanted() const {
  if (wanted_ < 0) return false;
  if (!lock(wanted_, LOCK_EX | LOCK_NB)) return errno == EWOULDBLOCK;
  lock(wanted_, LOCK_UN);
  return false;
}

}  // namespace warpmeter::inject

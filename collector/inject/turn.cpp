// SPDX-License-Identifier: MIT
#include "collector/inject/turn.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace warpmeter::inject {
namespace {

int open_lock(const std::filesystem::path& file) {
  return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

bool lock(int file, int operation) {
  int result = 0;
  do {
    result = flock(file, operation);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

Turn::Turn(const std::filesystem::path& folder, const std::string& device)
    : turn_(open_lock(folder / (device + ".turn"))),
      wanted_(open_lock(folder / (device + ".wanted"))) {}

Turn::~Turn() {
  if (turn_ >= 0) close(turn_);
  if (wanted_ >= 0) close(wanted_);
}

void Turn::take() {
  if (turn_ < 0 || wanted_ < 0) return;
  lock(wanted_, LOCK_SH);
  lock(turn_, LOCK_EX);
  lock(wanted_, LOCK_UN);
}

void Turn::give() {
  if (turn_ >= 0) lock(turn_, LOCK_UN);
}

bool Turn::is_wanted() const {
  if (wanted_ < 0) return false;
  if (!lock(wanted_, LOCK_EX | LOCK_NB)) return true;
  lock(wanted_, LOCK_UN);
  return false;
}

}  // namespace warpmeter::inject

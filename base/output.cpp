// SPDX-License-Identifier: MIT
#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace warpmeter {
namespace {

constexpr const char* other_file = "choose another file";
constexpr const char* elsewhere = "make room, or write to another file";

}  // namespace

Output::Output(const Destination& destination) : name_("standard output") {
  if (destination.is_standard_output()) return;
  name_ = destination.path();
  file_ = std::make_unique<NewFile>(name_, other_file);
}

bool Output::write(std::string_view text) {
  if (reader_gone_) return false;
  const bool taken = file_ ? file_->write(text) : write_all(STDOUT_FILENO, text, name_, elsewhere);
  reader_gone_ = !taken;
  return taken;
}

void Output::finish() {
  if (file_) file_->keep();
}

void keep_standard_streams() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The other direction is opened, so that using the closed stream still fails.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) < 0) std::abort();
  }
}

}  // namespace warpmeter

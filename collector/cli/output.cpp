#include "collector/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "schema/error.h"
#include "schema/temporary.h"

namespace warpmeter::cli {
namespace {

[[noreturn]] void fail(const std::string& name, const char* hint) {
  throw Error(ExitCode::file,
              fmt::format("cannot write {}: {}; {}", name, std::strerror(errno), hint));
}

constexpr const char* other_file = "choose another file";

/// The place that a path leads to when it is a link to something that exists, else the path.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         std::free);
  return real ? real.get() : path;
}

}  // namespace

Output::Output(const Destination& destination) : name_("standard output") {
  if (destination.is_standard_output()) {
    descriptor_ = STDOUT_FILENO;
    return;
  }
  const std::string& path = name_ = destination.path();
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(name_, other_file);
    return;
  }
  target_ = resolved(path);
  temporary_ = target_ + ".XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(name_, other_file);
  }
  if (fchmod(descriptor_, exists ? status.st_mode & 07777 : schema::usual_mode()) != 0) {
    fail(name_, other_file);
  }
}

Output::~Output() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool Output::write(std::string_view text) {
  while (!reader_gone_ && !text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      reader_gone_ = true;
    } else if (errno != EINTR) {
      fail(name_, "make room, or write to another file");
    }
  }
  return !reader_gone_;
}

void Output::finish() {
  if (descriptor_ <= STDERR_FILENO) return;
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail(name_, other_file);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(name_, other_file);
  temporary_.clear();
}

void keep_standard_streams() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Opened for the other direction, so that using the closed stream still fails.
    const int mode = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) < 0) std::abort();
  }
}

}  // namespace warpmeter::cli

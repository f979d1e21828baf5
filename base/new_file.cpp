// SPDX-License-Identifier: MIT
#include "base/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/temporary.h"

namespace warpmeter {
namespace {

/// The place that a path leads to when it is a link to something that exists, else the path.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         std::free);
  return real ? real.get() : path;
}

std::string folder_holding(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

[[noreturn]] void fail_to_write(const std::string& name, const std::string& hint) {
  if (errno == EFBIG) {
    throw Error(ExitCode::file,
                fmt::format("cannot write {}: it would be larger than files may be here (ulimit "
                            "-f); raise that limit, or {}",
                            name, hint));
  }
  throw Error(ExitCode::file,
              fmt::format("cannot write {}: {}; {}", name, std::strerror(errno), hint));
}

/// Where the system shows our open files, so that one without a name can be given one.
std::string shown_at(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

}  // namespace

bool write_all(int descriptor, std::string_view text, const std::string& name,
               const std::string& hint) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno != EINTR) {
      fail_to_write(name, hint);
    }
  }
  return true;
}

NewFile::NewFile(std::string name, std::string hint)
    : name_(std::move(name)), hint_(std::move(hint)) {
  struct stat status {};
  const bool exists = stat(name_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
    return;
  }
  const std::string target = resolved(name_);
  // The system takes the umask off, which nobody else can ask for without changing it meanwhile.
  descriptor_ = ::open(folder_holding(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor_ >= 0 && access(shown_at(descriptor_).c_str(), F_OK) != 0) {
    close(std::exchange(descriptor_, -1));
  }
  const bool has_usual_mode = descriptor_ >= 0;
  if (descriptor_ < 0) open_beside(target);
  target_ = target;
  if (exists || !has_usual_mode) set_mode(exists ? status.st_mode & 07777 : usual_mode());
}

void NewFile::set_mode(mode_t mode) {
  if (fchmod(descriptor_, mode) != 0) {
    const int error = errno;
    close(std::exchange(descriptor_, -1));
    if (!beside_.empty()) unlink(beside_.c_str());
    errno = error;
    fail();
  }
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void NewFile::fail() const { fail_to_write(name_, hint_); }

void NewFile::open_beside(const std::string& target) {
  const SignalsHeld held;
  std::string beside = target + ".XXXXXX";
  descriptor_ = mkostemp(beside.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail();
  beside_ = std::move(beside);
  doomed_ = std::make_unique<Doomed>(beside_);
}

bool NewFile::write(std::string_view text) { return write_all(descriptor_, text, name_, hint_); }

/// A name is given only where there is none: where there is, the file takes another one first, for
/// as long as renaming takes.
void NewFile::give_name() {
  const std::string shown = shown_at(descriptor_);
  const auto link = [&](const std::string& path) {
    return linkat(AT_FDCWD, shown.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(target_)) return;
  int error = errno;
  std::random_device random;
  const SignalsHeld held;
  while (error == EEXIST) {
    std::string beside = fmt::format("{}.{:06x}", target_, random() & 0xffffff);
    if (link(beside)) {
      beside_ = std::move(beside);
      doomed_ = std::make_unique<Doomed>(beside_);
      return;
    }
    error = errno;
  }
  errno = error;
  fail();
}

void NewFile::keep() {
  if (descriptor_ < 0) return;
  if (!target_.empty() && beside_.empty()) give_name();
  if (close(std::exchange(descriptor_, -1)) != 0) fail();
  if (beside_.empty()) return;
  if (std::rename(beside_.c_str(), target_.c_str()) != 0) fail();
  beside_.clear();
  doomed_.reset();
}

}  // namespace warpmeter

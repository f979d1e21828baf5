// SPDX-License-Identifier: MIT
#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace warpmeter {

namespace fs = std::filesystem;

namespace {

/// The prefix of a locked folder; a folder that is not yet locked has another name.
constexpr std::string_view prefix = "warpmeter-";
constexpr std::size_t name_length = prefix.size() + 6;

/// A lock that goes with this process, however it ends; -1: somebody else has it.
int locked(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

bool is_own_folder(const fs::path& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & 0777) == 0700;
}

void clear_left_folders_in(const fs::path& base) {
  std::error_code ignored;
  for (fs::directory_iterator entry(base, ignored), end; entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) || name.size() != name_length) continue;
    if (!is_own_folder(entry->path())) continue;
    const int lock = locked(entry->path());
    if (lock < 0) continue;
    fs::remove_all(entry->path(), ignored);
    close(lock);
  }
}

}  // namespace

void clear_left_folders() {
  std::error_code ignored;
  const fs::path base = fs::temp_directory_path(ignored);
  if (!ignored) clear_left_folders_in(base);
  if (ignored || base != "/tmp") clear_left_folders_in("/tmp");
}

TemporaryFolder::TemporaryFolder(std::size_t longest) : owner_(getpid()) {
  std::error_code ignored;
  fs::path base = fs::temp_directory_path(ignored);
  if (ignored || base.string().size() > longest) base = "/tmp";
  std::string pattern = (base / "warpmeter.XXXXXX").string();
  const SignalsHeld held;
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::file, fmt::format("no folder can be made in {} ({}); set TMPDIR to one "
                                            "that can be written",
                                            base.string(), std::strerror(errno)));
  }
  // Nobody may take it for one that was left before it is locked.
  lock_ = locked(pattern);
  const fs::path kept = base / (std::string(prefix) + pattern.substr(pattern.size() - 6));
  const bool is_kept =
      lock_ >= 0 && !fs::exists(kept, ignored) && std::rename(pattern.c_str(), kept.c_str()) == 0;
  path_ = is_kept ? kept : fs::path(pattern);
  doomed_ = std::make_unique<Doomed>(path_.string());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (getpid() == owner_) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace warpmeter

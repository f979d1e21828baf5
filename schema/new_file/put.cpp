// SPDX-License-Identifier: MIT
#include "schema/new_file/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace warpmeter::schema {
namespace {

/// In one piece, which file systems write and remove much faster than a file with holes.
bool write_whole(int file) {
  const embedded::Piece& last = embedded::new_file().back();
  std::string text(last.offset + last.bytes.size(), '\0');
  for (const embedded::Piece& piece : embedded::new_file()) {
    piece.bytes.copy(text.data() + piece.offset, piece.bytes.size());
  }
  return write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
         fdatasync(file) == 0;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void refuse_place(const std::string& path) {
  const std::string folder = folder_of(path);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw Error(ExitCode::file, fmt::format("{} cannot be created, for there is no folder {}: "
                                            "create it, or name another file with --db",
                                            path, folder));
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw Error(ExitCode::file, fmt::format("{} cannot be created ({}): change the permissions of "
                                            "its folder, or name another file with --db",
                                            path, std::strerror(errno)));
  }
  // SQLite keeps a file beside it for a moment, whose name is longer.
  constexpr std::size_t most = NAME_MAX - std::string_view("-journal").size();
  if (std::filesystem::path(path).filename().native().size() <= most) return;
  throw Error(ExitCode::file,
              fmt::format("{} cannot be created: its name may have {} bytes at most, for SQLite "
                          "puts -journal behind it; name another file with --db",
                          path, most));
}

bool put_new_file(const std::string& path) {
  if (embedded::new_file().empty()) return false;
  // The log of a file that was removed: SQLite forgets it beside an empty file, and would write it
  // into this one.
  std::error_code unknown;
  for (const char* log : {"-wal", "-journal"}) {
    if (std::filesystem::exists(path + log, unknown) || unknown) return false;
  }
  // It has no name until it is whole. Another process may do the same: the first one's is the file.
  constexpr mode_t as_sqlite = 0644;
  const int file = ::open(folder_of(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, as_sqlite);
  if (file < 0) return false;
  const std::string nameless = "/proc/self/fd/" + std::to_string(file);
  const bool is_put = write_whole(file) && linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD,
                                                  path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  close(file);
  return is_put;
}

}  // namespace warpmeter::schema

// SPDX-License-Identifier: MIT
#include "base/named_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

/// Links and dots resolved; empty where that fails.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path() : whole;
}

/// True for the folder itself too.
bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

fs::path home_folder() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? resolved(home) : fs::path();
}

/// "/home/u/.ssh" of a path in it; empty of one that is not hidden.
fs::path hidden_part_of_home(const fs::path& path) {
  const fs::path home = home_folder();
  if (home.empty() || path == home || !lies_in(path, home)) return {};
  const fs::path first = *path.lexically_relative(home).begin();
  return first.string().starts_with('.') ? home / first : fs::path();
}

/// The file that a descriptor leads to, whatever name it was opened by since.
ReadFile read_open(int descriptor, std::uint64_t most) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return {{}, std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return {{}, "is no regular file"};
  if (static_cast<std::uint64_t>(status.st_size) > most) {
    return {{}, fmt::format("is larger than the {} bytes that are read", most)};
  }
  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size));
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {{}, fmt::format("cannot be read ({})", std::strerror(errno))};
    if (got == 0) return {std::move(text), ""};
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > most) return {{}, "grew while it was read"};  // /proc has such files
  }
}

}  // namespace

ReadFile read_regular_file(const std::string& path, std::uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {{}, fmt::format("cannot be read ({})", std::strerror(errno))};
  ReadFile read = read_open(descriptor, most);
  ::close(descriptor);
  return read;
}

fs::path project_folder(const fs::path& folder) {
  const fs::path start = resolved(folder), home = home_folder();
  const auto holds = [](const fs::path& here, std::initializer_list<const char*> names) {
    std::error_code ignored;
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return fs::exists(here / name, ignored); });
  };
  const auto may_be = [&](const fs::path& here) {
    return here.has_relative_path() && (home.empty() || !lies_in(home, here));
  };
  for (fs::path here = start; may_be(here); here = here.parent_path()) {
    if (holds(here, {".git", ".hg", ".svn"})) return here;
  }
  // A build's own folder lies in the project's, or beside it.
  fs::path around_build = start;
  for (fs::path here = start; may_be(here); here = here.parent_path()) {
    if (holds(here, {"CMakeCache.txt"})) {
      around_build = may_be(here.parent_path()) ? here.parent_path() : here;
    } else if (holds(here, {"CMakeLists.txt", "Makefile", "makefile"})) {
      return here;
    }
  }
  return around_build;
}

NamedFiles::NamedFiles(const std::string& naming_file) {
  allow(".");
  const fs::path file = resolved(naming_file);
  if (!file.empty()) allow(file.parent_path());
}

void NamedFiles::allow(const fs::path& folder) {
  const fs::path whole = resolved(folder);
  // All files lie below the root: it would allow everything.
  if (!whole.empty() && whole != whole.root_path()) folders_.push_back(whole);
}

bool NamedFiles::allows(const std::string& path) const {
  const fs::path whole = resolved(path), hidden = hidden_part_of_home(whole);
  return std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) {
    return lies_in(whole, folder) && (hidden.empty() || lies_in(folder, hidden));
  });
}

std::string NamedFiles::text(const std::string& path) const {
  return allows(path) ? read_regular_file(path).text.value_or("") : "";
}

}  // namespace warpmeter

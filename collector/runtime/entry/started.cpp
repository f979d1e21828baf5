// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/started.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "base/own_stack.h"
#include "collector/inject/channel.h"
#include "collector/model/input/toolkit.h"
#include "collector/runtime/image/program_file.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

constexpr std::string_view library = "libwarpmeter_runtime";

std::string& listener() {
  static auto* path = new std::string;  // lives until the process ends
  return *path;
}

bool brings_library(char* const* environment) {
  bool is_preloaded = false, has_socket = false;
  for (char* const* one = environment; one != nullptr && *one != nullptr; ++one) {
    const std::string_view variable = *one;
    has_socket |= variable.starts_with(std::string(inject::socket_variable) + "=");
    is_preloaded |=
        variable.starts_with("LD_PRELOAD=") && variable.find(library) != std::string_view::npos;
  }
  return is_preloaded && has_socket;
}

/// Why nothing will be heard of it; empty: it will, or it cannot use CUDA.
std::string why_unobserved(const std::string& path, char* const* environment) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  if (access(path.c_str(), X_OK) != 0) return "";
  const WayIn way = read_way(path);
  if (way == WayIn::no_loader) return names_driver(path) ? no_way_into(way) : "";
  if (way == WayIn::stripped) return no_way_into(way);
  if (!brings_library(environment)) {
    return "it is started with another environment, without LD_PRELOAD and WARPMETER_SOCKET, which "
           "bring the library in: leave them there (env -i and the like take them away)";
  }
  if (!inject::may_connect(listener())) {
    return "it runs as another user, or under another root, who cannot reach warpmeter: start it "
           "as "
           "the user who starts warpmeter";
  }
  const bool is_other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != getuid();
  const bool is_other_group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getgid();
  if (is_other_user || is_other_group) {
    return "it runs as another user or group (set-user-ID), for whom no library is preloaded";
  }
  if (getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return "it has rights of its own (setcap), with which no library is preloaded";
  }
  return "";
}

void look_at(const std::string& path, char* const* environment) {
  const std::string why = why_unobserved(path, environment);
  if (!why.empty()) inject::send_alone(listener(), inject::Unobserved{path, why});
}

/// Where this process itself is about to become another program: until then it did well.
void leave(const std::string& path) {
  if (access(path.c_str(), X_OK) == 0) Process::end_unused();
}

/// The first file of that name in PATH that can be executed; empty: none.
std::string found_in_path(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
  for (;;) {
    const std::size_t end = folders.find(':');
    const std::string_view folder = folders.substr(0, end);
    std::string path(folder.empty() ? "." : folder);
    path.append("/").append(name);
    if (access(path.c_str(), X_OK) == 0) return path;
    if (end == std::string_view::npos) return "";
    folders.remove_prefix(end + 1);
  }
}

/// A compiler that this library starts for itself is none of the program's. The program's request
/// goes on, whatever becomes of this.
template <class Look>
void quietly(const Look& look) noexcept {
  if (listener().empty() || model::is_starting_tool()) return;
  const int error = errno;
  try {
    with_room<StackUser::interrupting>(look);  // the child of a vfork may be here
  } catch (const std::exception&) {
    errno = error;
  }
  errno = error;
}

}  // namespace

void remember_listener() {
  if (const char* socket = std::getenv(inject::socket_variable)) listener() = socket;
}

void look_at_leaving() noexcept {
  quietly([] { inject::keep_connection(listener()); });
}

void look_at_start(const char* file, char* const* environment, bool becomes_it) noexcept {
  if (file == nullptr) return;
  quietly([&] {
    look_at(file, environment);
    if (becomes_it) leave(file);
  });
}

void look_at_start_by_name(const char* name, char* const* environment, bool becomes_it) noexcept {
  if (name == nullptr) return;
  quietly([&] {
    const std::string_view word = name;
    const bool is_path = word.find('/') != std::string_view::npos;
    const std::string path = is_path ? std::string(word) : found_in_path(word);
    look_at(path, environment);
    if (becomes_it) leave(path);
  });
}

}  // namespace warpmeter::runtime

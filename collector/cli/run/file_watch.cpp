// SPDX-License-Identifier: MIT
#include "collector/cli/run/file_watch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace warpmeter::cli {
namespace {

constexpr int look_ms = 100;   ///< how often `ends` is asked
constexpr int settle_ms = 30;  ///< without a further save: what is saved together has been

bool has_events(int handle, int milliseconds) {
  pollfd descriptor{handle, POLLIN, 0};
  return poll(&descriptor, 1, milliseconds) > 0;
}

}  // namespace

FileWatch::FileWatch() : handle_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (handle_ < 0) {
    throw Error(ExitCode::file, fmt::format("files cannot be watched here ({}): run again by hand",
                                            std::strerror(errno)));
  }
}

FileWatch::~FileWatch() { close(handle_); }

void FileWatch::set(const std::vector<std::string>& files) {
  // A folder that is watched already keeps its watch, and no event of it is lost.
  std::vector<int> before = std::move(folders_);
  folders_.clear();
  watched_.clear();
  for (const std::string& file : files) {
    const std::filesystem::path path(file);
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    const int watch = inotify_add_watch(handle_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (watch < 0) {
      throw Error(ExitCode::file, fmt::format("{} cannot be watched ({}): run again by hand",
                                              folder, std::strerror(errno)));
    }
    watched_.emplace_back(watch, path.filename().string());
    folders_.push_back(watch);
  }
  for (const int watch : before) {
    if (std::find(folders_.begin(), folders_.end(), watch) == folders_.end()) {
      inotify_rm_watch(handle_, watch);
    }
  }
}

bool FileWatch::read_events() {
  bool is_ours = false;
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (ssize_t bytes = read(handle_, buffer.data(), buffer.size()); bytes > 0;
       bytes = read(handle_, buffer.data(), buffer.size())) {
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const int folder = event.wd;
      const std::string name = event.len > 0 ? buffer.data() + at + sizeof event : "";
      const bool is_lost = (event.mask & IN_Q_OVERFLOW) != 0;
      is_ours = is_ours || is_lost ||
                std::any_of(watched_.begin(), watched_.end(), [&](const auto& file) {
                  return file.first == folder && file.second == name;
                });
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  return is_ours;
}

bool FileWatch::was_saved() {
  if (!has_events(handle_, 0) || !read_events()) return false;
  while (has_events(handle_, settle_ms)) read_events();
  return true;
}

bool FileWatch::wait(const std::function<bool()>& ends) {
  bool is_saved = false;
  while (!ends()) {
    if (has_events(handle_, is_saved ? settle_ms : look_ms)) {
      is_saved = read_events() || is_saved;
    } else if (is_saved) {
      return true;
    }
  }
  return false;
}

}  // namespace warpmeter::cli

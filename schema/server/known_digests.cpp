// SPDX-License-Identifier: MIT
#include "schema/server/known_digests.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/new_file.h"
#include "schema/embedded.h"

namespace warpmeter::schema::server {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// FNV-1a, 64 bits; names the file.
std::uint64_t file_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string place_of(const std::string& database) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return "";
  return folder / "digests" / fmt::format("{:016x}.txt", file_hash(database));
}

/// The version that the digests depend on: another version of the tables has other columns.
std::string first_line() {
  return fmt::format("warpmeter digests 1, version {} of the tables",
                     embedded::migrations().size());
}

std::chrono::nanoseconds changed_at(const struct stat& state) {
  return std::chrono::seconds(state.st_ctim.tv_sec) +
         std::chrono::nanoseconds(state.st_ctim.tv_nsec);
}

/// How long ago the file was changed, by this machine's clock.
std::chrono::nanoseconds age(const struct stat& state) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) -
         changed_at(state);
}

/// A clock of files ticks each 10 ms or faster, but where it counts seconds.
std::chrono::nanoseconds tick(const struct stat& state) {
  return state.st_ctim.tv_nsec == 0 ? std::chrono::nanoseconds(2s) : std::chrono::nanoseconds(50ms);
}

/// Empty: the time of its change may be that of a change to come.
std::string stamp_of(const std::string& path, bool may_be_absent) {
  struct stat state {};
  if (stat(path.c_str(), &state) != 0 || (may_be_absent && state.st_size == 0)) {
    return may_be_absent ? "none" : "";
  }
  if (age(state) < tick(state)) return "";
  return fmt::format("{} {} {} {} {}", state.st_dev, state.st_ino, state.st_size,
                     changed_at(state).count(),
                     state.st_mtim.tv_sec * 1'000'000'000 + state.st_mtim.tv_nsec);
}

}  // namespace

KnownDigests::KnownDigests(const std::string& database) {
  std::error_code error;
  database_ = fs::canonical(database, error).string();
  if (error) return;
  place_ = place_of(database_);
  stamp_ = stamp();
  if (stamp_.empty()) {  // the file is new, as by the command before this one
    std::this_thread::sleep_for(60ms);
    stamp_ = stamp();
  }
  if (place_.empty() || stamp_.empty()) return;
  std::ifstream file(place_);
  std::string line;
  if (!std::getline(file, line) || line != first_line()) return;
  if (!std::getline(file, line) || line != database_) return;
  if (!std::getline(file, line) || line != stamp_) return;
  while (std::getline(file, line)) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) digests_[line.substr(blank + 1)] = line.substr(0, blank);
  }
}

std::optional<std::string> KnownDigests::of(const std::string& uuid) const {
  const auto found = digests_.find(uuid);
  if (found == digests_.end()) return std::nullopt;
  return found->second;
}

void KnownDigests::learn(const std::string& uuid, const std::string& digest) {
  if (uuid.find('\n') != std::string::npos) return;
  digests_[uuid] = digest;
  has_new_ = true;
}

void KnownDigests::keep() const {
  if (!has_new_ || place_.empty() || stamp_.empty() || stamp() != stamp_ ||
      database_.find('\n') != std::string::npos) {
    return;
  }
  std::string text = fmt::format("{}\n{}\n{}\n", first_line(), database_, stamp_);
  for (const auto& [uuid, digest] : digests_) text += fmt::format("{} {}\n", digest, uuid);
  std::error_code error;
  fs::create_directories(fs::path(place_).parent_path(), error);
  if (error) return;
  try {
    NewFile file(place_, "");
    file.write(text);
    file.keep();
  } catch (const Error&) {
  }
}

std::string KnownDigests::stamp() const {
  const std::string file = stamp_of(database_, false), log = stamp_of(database_ + "-wal", true);
  return file.empty() || log.empty() ? "" : fmt::format("{}; {}", file, log);
}

}  // namespace warpmeter::schema::server

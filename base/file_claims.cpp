// SPDX-License-Identifier: MIT
#include "base/file_claims.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/error.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

/// Without links and dots as far as it exists.
std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return path;
  const fs::path real = fs::weakly_canonical(whole, error);
  return error ? path : real.string();
}

}  // namespace

void FileClaims::add(Claim claim) {
  if (claim.path.empty()) return;
  struct stat status {};
  claim.exists = stat(claim.path.c_str(), &status) == 0;
  if (claim.exists && !S_ISREG(status.st_mode)) return;
  claim.device = status.st_dev;
  claim.inode = status.st_ino;
  claim.resolved = real_path(claim.path);
  for (const Claim& other : claims_) {
    if (claim.option.empty() && other.option.empty()) continue;
    const bool is_same = claim.exists && other.exists
                             ? claim.device == other.device && claim.inode == other.inode
                             : claim.exists == other.exists && claim.resolved == other.resolved;
    if (!is_same) continue;
    // The later claim is the wrong one, unless it only reads.
    const Claim& writer = claim.option.empty() ? other : claim;
    const Claim& kept = claim.option.empty() ? claim : other;
    throw Error(ExitCode::usage, fmt::format("{} {} would {} {}; choose another file",
                                             writer.option, writer.path, writer.verb, kept.what));
  }
  claims_.push_back(std::move(claim));
}

void FileClaims::add_database(const std::string& path, const std::string& what,
                              const std::string& option) {
  const bool is_link = fs::is_symlink(fs::path(path));
  const std::string beside = is_link ? real_path(path) : path;  // SQLite's own files lie there
  add({option, path, what, "change"});
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    add({option, beside + suffix, fmt::format("{} (its {} file)", what, suffix), "change"});
  }
}

void FileClaims::read(const std::string& path, const std::string& what) { add({"", path, what}); }

void FileClaims::read_database(const std::string& path, const std::string& what) {
  add_database(path, what, "");
}

void FileClaims::store(const std::string& path, const std::string& option) {
  add_database(path, "the database", option);
}

namespace {

/// A file that somebody wrote, and no result: a slip of the hand must not cost it.
void refuse_source(const std::string& path, const std::string& option) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  const std::string ending = fs::path(path).extension().string();
  for (const char* source : {".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".py", ".ptx",
                             ".yaml", ".yml", ".toml", ".sql"}) {
    if (ending != source) continue;
    throw Error(ExitCode::usage,
                fmt::format("{} {} would overwrite a source; choose another file", option, path));
  }
}

}  // namespace

Destination FileClaims::write(const std::string& path, const std::string& option) {
  Destination destination;
  if (path.empty() || path == "-") return destination;
  add({option, path, fmt::format("what {} writes", option)});
  refuse_source(path, option);
  destination.path_ = path;
  return destination;
}

void require_folder(const std::string& path, const std::string& option) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;
  if (folder.empty() || fs::is_directory(folder, ignored)) return;
  throw Error(ExitCode::file,
              fmt::format("{} cannot be made, for there is no folder {}: create it, "
                          "or name another file with {}",
                          path, folder.string(), option));
}

}  // namespace warpmeter

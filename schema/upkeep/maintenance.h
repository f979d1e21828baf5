// SPDX-License-Identifier: MIT
// The upkeep of a database: names for runs, runs that go, space that comes back, copies, and
// whether all is well. Each change is a transaction of its own; a program that is killed meanwhile
// leaves it done or not begun.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace warpmeter::schema {

/// Gives a run a label; an empty one takes it away. Throws Error{usage} when the label names
/// another run already.
void label_run(const std::string& path, std::int64_t run_id, const std::string& label);

/// Removes runs with all that belongs to them, one after the other, until `cancelled`. How many
/// went. Throws Error{usage} for a run that is still being measured, before anything is removed.
std::size_t remove_runs(const std::string& path, std::span<const std::int64_t> run_ids,
                        const std::function<bool()>& cancelled = {});

struct FileSize {
  std::int64_t before = 0, after = 0;  ///< bytes
};

/// Gives the space of removed runs back to the file system.
FileSize vacuum(const std::string& path);

/// Writes a copy of the database as it is at this moment; others may go on writing meanwhile.
/// `copy` appears whole or not at all, and replaces an existing file only if `replace`. Bytes of
/// the copy.
std::int64_t back_up(const std::string& path, const std::string& copy, bool replace);

/// One thing that was looked at in a database.
struct Examined {
  std::string name;
  bool ok = false;
  std::string detail, remedy;  ///< the remedy where it is not ok
};

/// Reads all of a database and says what it found, without changing it. Throws Error{file} when it
/// cannot be opened.
std::vector<Examined> examine(const std::string& path);

}  // namespace warpmeter::schema

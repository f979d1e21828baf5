// SPDX-License-Identifier: MIT
// The rows of t_launch. Most launches of a program are the launches before them again, with other
// counts: such rows are written by one statement that repeats its parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "schema/records.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {

class LaunchRows {
 public:
  explicit LaunchRows(sqlite3* db);

  /// The numbers of a launch and of its row. Only equal rows have the same number.
  using OnLaunch = std::function<void(std::int64_t id, std::uint64_t row, const Launch& launch)>;

  /// Writes the launches' own rows, inside a transaction, and calls `on_launch` for each in turn
  /// once its row is there.
  void write(std::int64_t run_id, std::int64_t device_id, std::span<const Launch> launches,
             const OnLaunch& on_launch);

 private:
  std::uint64_t number_of(std::int64_t device_id, const Launch& launch);
  /// Writes the same row as many times; the numbers ascend from `id`.
  void write_alike(std::int64_t id, std::int64_t run_id, std::int64_t device_id,
                   const Launch& launch, std::size_t times);

  Statement next_id_, repeat_;
  std::unordered_map<std::string, std::uint64_t> numbers_;  ///< those of the rows met lately
  std::uint64_t next_number_ = 0;
};

}  // namespace warpmeter::schema

// SPDX-License-Identifier: MIT
// The handles of warpmeter.h, as C++ that throws Error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::library {

/// See warpmeter_use_model().
void use_model(std::string_view architecture);

/// See warpmeter_libcuda_folder().
const char* libcuda_folder();

/// See warpmeter_keep_source().
void keep_source(const char* file, const char* text);

class Meter {
 public:
  /// Creates the database where there is none, so that a bad one is noticed now.
  Meter(std::string database, std::string program);
  /// A range of this meter that is open ends unread.
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  void begin(std::span<const std::string> metrics, const std::string& label);
  /// The run. Throws Error{nothing} where nothing was launched, Error{kernel} where a kernel
  /// failed; `run` is set then too.
  void end(std::int64_t& run);
  /// On the range that ended last.
  std::string remarks() const;
  /// The UUID of the run of the range that ended last; empty where it has no run.
  std::string uuid() const;

  schema::Reader reader() const { return schema::Reader(database_); }

 private:
  /// A database is looked through when it is opened, so it stays open between ranges; not one that
  /// was removed or replaced.
  const std::shared_ptr<schema::Store>& store();

  const std::string database_, program_;
  std::shared_ptr<schema::Store> store_;
  std::pair<std::uint64_t, std::uint64_t> file_;  ///< device and inode of the open one
  std::vector<std::string> remarks_;
  std::string uuid_;
};

}  // namespace warpmeter::library

// SPDX-License-Identifier: MIT
// The handles of warpmeter.h, as C++ that throws Error.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::library {

/// See warpmeter_use_model().
void use_model(std::string_view architecture);

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

  schema::Reader reader() const { return schema::Reader(database_); }

 private:
  const std::string database_, program_;
  std::vector<std::string> remarks_;
};

}  // namespace warpmeter::library

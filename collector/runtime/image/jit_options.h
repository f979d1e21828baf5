// SPDX-License-Identifier: MIT
// The options of loading and linking that are answered: where the compiler's words go, and how long
// it took. The others ask for code that the machine does not execute.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

class JitOptions {
 public:
  JitOptions() = default;
  JitOptions(unsigned count, const CUjit_option* options, void** values);

  /// True if they are options at all.
  bool is_known() const { return is_known_; }
  /// A line of the error log. Text beyond the buffer's room is left out.
  void write_error(std::string_view line);
  /// Adds what has passed since.
  void took(std::chrono::steady_clock::time_point since);

 private:
  bool is_known_ = true;
  char* error_ = nullptr;
  std::size_t error_bytes_ = 0, written_ = 0;
  void** error_filled_ = nullptr;  ///< where it says how much is written; null: nobody asks
  void** wall_time_ = nullptr;
  float milliseconds_ = 0;
};

}  // namespace warpmeter::runtime

// SPDX-License-Identifier: MIT
#include "collector/runtime/image/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpmeter::runtime {
namespace {

std::size_t as_size(const void* value) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

}  // namespace

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  if (count == 0) return;
  is_known_ = options != nullptr && values != nullptr;
  if (!is_known_) return;
  char* info = nullptr;
  std::size_t info_bytes = 0;
  void** info_filled = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER:
        error_ = static_cast<char*>(values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_bytes_ = as_size(values[i]);
        error_filled_ = values + i;
        break;
      case CU_JIT_INFO_LOG_BUFFER:
        info = static_cast<char*>(values[i]);
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_bytes = as_size(values[i]);
        info_filled = values + i;
        break;
      case CU_JIT_WALL_TIME:
        wall_time_ = values + i;
        break;
      default:
        is_known_ &= options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS;
    }
  }
  if (info != nullptr && info_bytes > 0) *info = '\0';
  if (info_filled != nullptr) *info_filled = nullptr;
  write_error("");
  took(std::chrono::steady_clock::now());
}

void JitOptions::write_error(std::string_view line) {
  if (error_ != nullptr && written_ + 1 < error_bytes_) {
    if (written_ > 0) error_[written_++] = '\n';  // between lines, none behind the last
    const std::size_t room = error_bytes_ - written_ - 1, count = std::min(line.size(), room);
    std::memcpy(error_ + written_, line.data(), count);
    written_ += count;
    error_[written_] = '\0';
  }
  if (error_filled_ != nullptr) *error_filled_ = reinterpret_cast<void*>(written_);
}

void JitOptions::took(std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<float, std::milli> passed = std::chrono::steady_clock::now() - since;
  milliseconds_ += passed.count();
  if (wall_time_ == nullptr) return;
  *wall_time_ = nullptr;
  std::memcpy(wall_time_, &milliseconds_, sizeof milliseconds_);
}

}  // namespace warpmeter::runtime

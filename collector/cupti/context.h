// SPDX-License-Identifier: MIT
// A device's CUDA context, our one stream in it, and memory that belongs to it.
//
// A kernel that reads outside its memory breaks not only its context: from then on the driver gives
// this process no other one on the device. Measured with driver 580: releasing, resetting or
// destroying the context succeeds, and creating the next returns the kernel's error again. So a
// broken context stays broken, and says so.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "collector/cupti/library.h"

namespace warpmeter::cupti {

class Context {
 public:
  /// Throws Error{no_hardware} without a driver.
  explicit Context(int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DriverApi& api() const { return api_; }
  CUdevice device() const { return device_; }
  CUcontext handle() const { return handle_; }
  CUstream stream() const { return stream_; }
  int attribute(CUdevice_attribute attribute) const;

  void make_current() const;
  /// Waits for the stream; a kernel's failure comes back here.
  CUresult synchronize() const;
  /// The same, but gives up after so many seconds: nullopt. The kernel goes on then, and nothing
  /// more can be done in this process.
  std::optional<CUresult> synchronize_within(double seconds) const;

  /// To be called with the driver's words after a launch failed: some failures (a block too large)
  /// leave the context alone, others break it.
  void note_failure(const std::string& words);
  /// To be called after a kernel that does not end.
  void note_hang(const std::string& words) { broken_by_ = words; }
  /// The reason why the context broke; empty while it works.
  const std::string& broken_by() const { return broken_by_; }

 private:
  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext handle_ = nullptr;
  CUstream stream_ = nullptr;
  std::string broken_by_;
};

/// Device memory, aligned to 256 bytes as the driver does it.
class Memory {
 public:
  Memory() = default;
  /// Throws Error{kernel} when there is not enough. At least one byte is taken.
  Memory(const Context& context, std::size_t bytes);
  ~Memory() { release(); }
  Memory(Memory&& other) noexcept { *this = static_cast<Memory&&>(other); }
  Memory& operator=(Memory&& other) noexcept;

  CUdeviceptr address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  bool is_allocated() const { return context_ != nullptr; }

 private:
  void release();

  const Context* context_ = nullptr;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace warpmeter::cupti

// A device's CUDA context, our one stream in it, and memory that belongs to it.
//
// A kernel that reads outside its memory breaks its context for good: every later call of the
// driver returns the same error. recover() resets the device's primary context and makes a new one;
// whatever lived in the old one (memory, modules, the profiler) is gone, and notices by the
// generation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/cupti/library.h"

namespace warpmeter::cupti {

class Context {
 public:
  /// Throws Error{no_hardware}. Needs driver().ok().
  explicit Context(int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DriverApi& api() const { return api_; }
  CUdevice device() const { return device_; }
  CUcontext handle() const { return handle_; }
  CUstream stream() const { return stream_; }
  std::uint64_t generation() const { return generation_; }
  int attribute(CUdevice_attribute attribute) const;

  void make_current() const;
  /// Waits for the stream; a kernel's failure comes back here.
  CUresult synchronize() const;
  /// Whether the driver still answers in this context.
  bool is_broken() const;
  void recover();

 private:
  void acquire();

  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext handle_ = nullptr;
  CUstream stream_ = nullptr;
  std::uint64_t generation_ = 0;
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
  /// Whether it is allocated in the context as it is now.
  bool is_valid() const;

 private:
  void release();

  const Context* context_ = nullptr;
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace warpmeter::cupti

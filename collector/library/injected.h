// SPDX-License-Identifier: MIT
// The libraries that `warpmeter profile` brings into programs, brought into this process: the one
// that answers CUDA where there is no GPU, or the one that counts on a GPU.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace warpmeter::library {

class Injected {
 public:
  /// The model's. Throws Error{usage} when CUDA is in this process already, Error{file} when the
  /// library cannot be loaded.
  static Injected model(int arch);
  /// Launches from now on are reported to the socket. Throws Error{usage} in a host function.
  void begin_range(const std::filesystem::path& socket) const;
  /// Waits for the launches before it. Throws Error{usage} in a host function.
  void end_range() const;
  /// The text of a source that no file holds, for the lines of kernels.
  void keep_source(const char* file, const char* text) const;
  /// The folder of a libcuda.so.1 that stands in for the machine's; empty where it has its own.
  const std::string& libcuda_folder() const { return libcuda_folder_; }

 private:
  explicit Injected(void* library);

  using Begin = const char* (*)(const char* socket);
  using End = const char* (*)();
  Begin begin_ = nullptr;
  End end_ = nullptr;
  using Keep = const char* (*)(const char* file, const char* text);
  Keep keep_ = nullptr;
  std::string libcuda_folder_;
};

/// The functions of a process on a GPU that choose what is measured; by gpu_session.h.
struct GpuFunctions {
  /// Connects to the socket that the environment names (WARPMETER_SOCKET).
  std::function<void()> initialize;
  /// cuProfilerStart and cuProfilerStop: launches between them are measured.
  std::function<void()> start, stop;
};

/// Those of the library that counts on a GPU, and of the driver. Throws Error{no_hardware} without
/// a driver, Error{file}.
GpuFunctions gpu_functions();

}  // namespace warpmeter::library

// SPDX-License-Identifier: MIT
// Takes the buffers that CUPTI has filled off the threads that bring them: CUPTI's callback may run
// in the middle of the program's launch, and what takes long there the program waits for. One
// thread of ours reads the buffers, and asks CUPTI for what is finished every few milliseconds, so
// that a killed process loses no more than that.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "collector/cupti/library.h"

namespace warpmeter::inject {

/// Activity records as CUPTI returns them.
struct FilledBuffer {
  CUcontext context = nullptr;
  std::uint32_t stream = 0;
  std::uint8_t* bytes = nullptr;
  std::size_t valid_bytes = 0;
};

/// Lives until the process ends; its thread is never joined.
class Delivery {
 public:
  /// `read` is called in our thread, for one buffer after the other; `flush` asks CUPTI for the
  /// buffers that it has.
  Delivery(std::function<void(const FilledBuffer&)> read, std::function<void()> flush);

  /// A buffer of buffer_bytes zeros for CUPTI; nullptr when there is no memory.
  std::uint8_t* give();
  /// The buffer comes back filled. Waits only when very many have not been read yet.
  void take(const FilledBuffer& buffer);
  /// Returns when everything taken so far has been read, or after `patience`. Not for our thread.
  bool drain(std::chrono::milliseconds patience);
  /// From now on CUPTI is left alone: the process ends, and CUPTI with it.
  void stop_flushing();
  /// True if this thread is ours, by the number that CUPTI gives threads.
  bool is_own_thread(std::uint32_t thread) const { return thread == own_thread_; }

  static constexpr std::size_t buffer_bytes = 1 << 20;

 private:
  void work();
  void flush();

  const std::function<void(const FilledBuffer&)> read_;
  const std::function<void()> flush_;
  std::atomic<std::uint32_t> own_thread_{0};
  std::mutex flushing_;  ///< we hold it while we ask CUPTI
  bool flushes_ = true;
  std::atomic<bool> has_given_{false};  ///< before that there is nothing to ask for
  std::mutex mutex_;
  std::condition_variable taken_, has_read_;
  std::deque<FilledBuffer> waiting_;
  std::vector<std::uint8_t*> free_;  ///< zeroed buffers to be used again
  std::uint64_t buffers_taken_ = 0, buffers_read_ = 0;
};

}  // namespace warpmeter::inject

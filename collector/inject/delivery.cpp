// SPDX-License-Identifier: MIT
#include "collector/inject/delivery.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;

constexpr auto flush_period = 10ms;
/// 256 MB: a program that is faster than its records can be stored waits for them from there on.
constexpr std::size_t most_waiting = 256;
constexpr std::size_t most_free = 16;

}  // namespace

Delivery::Delivery(std::function<void(const FilledBuffer&)> read, std::function<void()> flush)
    : read_(std::move(read)), flush_(std::move(flush)) {
  std::thread([this] { work(); }).detach();
}

std::uint8_t* Delivery::give() {
  has_given_ = true;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* bytes = free_.back();
      free_.pop_back();
      return bytes;
    }
  }
  return static_cast<std::uint8_t*>(std::calloc(1, buffer_bytes));
}

void Delivery::take(const FilledBuffer& buffer) {
  std::unique_lock lock(mutex_);
  if (!is_own_thread(static_cast<std::uint32_t>(gettid()))) {
    has_read_.wait(lock, [&] { return waiting_.size() < most_waiting; });
  }
  waiting_.push_back(buffer);
  ++buffers_taken_;
  taken_.notify_one();
}

bool Delivery::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t until = buffers_taken_;
  return has_read_.wait_for(lock, patience, [&] { return buffers_read_ >= until; });
}

void Delivery::stop_flushing() {
  const std::lock_guard lock(flushing_);
  flushes_ = false;
}

void Delivery::flush() {
  const std::lock_guard lock(flushing_);
  if (flushes_ && has_given_) flush_();  // comes back to us in take()
}

void Delivery::work() {
  own_thread_ = static_cast<std::uint32_t>(gettid());
  auto next_flush = std::chrono::steady_clock::now() + flush_period;
  std::unique_lock lock(mutex_);
  for (;;) {
    taken_.wait_until(lock, next_flush, [&] { return !waiting_.empty(); });
    if (waiting_.empty()) {
      lock.unlock();
      flush();
      next_flush = std::chrono::steady_clock::now() + flush_period;
      lock.lock();
      continue;
    }
    const FilledBuffer buffer = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    read_(buffer);
    std::memset(buffer.bytes, 0, std::min(buffer.valid_bytes, buffer_bytes));
    lock.lock();
    if (free_.size() < most_free) {
      free_.push_back(buffer.bytes);
    } else {
      std::free(buffer.bytes);
    }
    ++buffers_read_;
    has_read_.notify_all();
  }
}

}  // namespace warpmeter::inject

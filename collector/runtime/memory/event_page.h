// SPDX-License-Identifier: MIT
// The knowledge that processes share of an event: how often it was recorded, and how many of these
// recordings are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "collector/runtime/memory/shared_pages.h"

namespace warpmeter::runtime {

class EventPage {
 public:
  /// The page of this process, or one that another process shares; null where there is no memory,
  /// or none any more.
  static std::shared_ptr<EventPage> make();
  static std::shared_ptr<EventPage> open(const SharedPages& pages);
  ~EventPage();
  EventPage(const EventPage&) = delete;
  EventPage& operator=(const EventPage&) = delete;

  const SharedPages& pages() const { return pages_; }
  /// Takes note of a recording that was given to a stream; its number.
  std::uint64_t give();
  void done(std::uint64_t number);
  std::uint64_t given() const { return state_->given; }
  bool is_done(std::uint64_t number) const { return state_->done >= number; }
  bool is_done() const { return is_done(given()); }
  /// Until it is done, or who recorded it has ended; asks again and again.
  void wait_for(std::uint64_t number) const;

 private:
  struct State {
    std::atomic<std::uint64_t> given, done;
    std::atomic<pid_t> recorder;
  };
  EventPage(const SharedPages& pages, void* mapped);

  SharedPages pages_;
  State* const state_;
};

}  // namespace warpmeter::runtime

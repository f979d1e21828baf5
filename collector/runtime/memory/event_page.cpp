// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/event_page.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t page_bytes = 4096;

}  // namespace

EventPage::EventPage(const SharedPages& pages, void* mapped)
    : pages_(pages), state_(static_cast<State*>(mapped)) {}  // zeros are its beginning

EventPage::~EventPage() {
  munmap(state_, page_bytes);
  pages_.drop();
}

std::shared_ptr<EventPage> EventPage::make() {
  SharedPages pages = SharedPages::make(page_bytes);
  std::shared_ptr<EventPage> made = pages.process == 0 ? nullptr : open(pages);
  if (made == nullptr) pages.drop();
  return made;
}

std::shared_ptr<EventPage> EventPage::open(const SharedPages& pages) {
  void* mapped = pages.bytes == page_bytes ? map_pages(pages) : nullptr;
  if (mapped == nullptr) return nullptr;
  return std::shared_ptr<EventPage>(new EventPage(pages, mapped));
}

std::uint64_t EventPage::give() {
  state_->recorder = getpid();
  return ++state_->given;
}

void EventPage::done(std::uint64_t number) {
  std::uint64_t before = state_->done;
  while (before < number && !state_->done.compare_exchange_weak(before, number)) {
  }
}

void EventPage::wait_for(std::uint64_t number) const {
  constexpr unsigned turns_between_looks = 256;
  for (unsigned turn = 1; !is_done(number); ++turn) {
    if (turn % turns_between_looks == 0 && has_ended(state_->recorder)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace warpmeter::runtime

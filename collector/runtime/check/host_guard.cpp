// SPDX-License-Identifier: MIT
#include "collector/runtime/check/host_guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/check/host_fault.h"

namespace warpmeter::runtime {
namespace {

/// Each is looked at with each.
constexpr std::size_t most_kept = 512;

Stretch pages_of(std::uint64_t address, std::uint64_t bytes) {
  return {address / host_page_bytes * host_page_bytes,
          model::round_up(address + bytes, host_page_bytes)};
}

Stretch common(const Stretch& one, const Stretch& other) {
  return {std::max(one.begin, other.begin), std::min(one.end, other.end)};
}

void set_protection(const Stretch& pages, int protection) {
  if (pages.begin >= pages.end) return;
  mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, protection);
}

}  // namespace

void HostGuard::touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
  const Stretch pages = pages_of(address, bytes);
  if (!touched_.empty()) {
    Touched& last = touched_.back();
    const bool is_next = last.pages.begin <= pages.begin && pages.begin <= last.pages.end;
    if (last.writes == writes && is_next) {
      last.pages.end = std::max(last.pages.end, pages.end);
      return;
    }
    if (last.writes && last.pages.begin <= pages.begin && pages.end <= last.pages.end) return;
  }
  touched_.push_back({pages, writes});
}

/// False where there is no room for it.
bool HostGuard::keep(const Kept& wanted, const Stretch& memory) {
  const auto is_alike = [&](const Kept& kept) {
    return kept.track == wanted.track && kept.writes == wanted.writes;
  };
  const auto joins = [&](const Kept& kept) {
    return is_alike(kept) && kept.pages.begin <= wanted.pages.end &&
           wanted.pages.begin <= kept.pages.end;
  };
  auto same = std::find_if(kept_.begin(), kept_.end(), joins);
  if (same == kept_.end()) {
    if (kept_.size() < most_kept) {
      kept_.push_back(wanted);
      return true;
    }
    // The bytes between the two are kept as well.
    same = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return is_alike(kept) && memory.holds(kept.pages.begin);
    });
    if (same == kept_.end()) return false;
  }
  same->operation = wanted.operation;  // those of before on this track are over before it is
  same->pages = {std::min(same->pages.begin, wanted.pages.begin),
                 std::max(same->pages.end, wanted.pages.end)};
  return true;
}

bool HostGuard::close(std::uint32_t operation, std::uint32_t track) {
  const std::vector<Touched> all = std::exchange(touched_, {});
  if (all.empty()) return true;
  const std::lock_guard lock(mutex_);
  for (const Touched& touched : all) {
    const Stretch memory = memory_.pages_with_two_views(touched.pages.begin);
    const Stretch pages = common(touched.pages, memory);
    if (pages.begin >= pages.end) continue;
    if (!is_catching_host_faults()) return false;
    if (!keep({operation, track, pages, touched.writes}, memory)) {
      is_partial_ = true;
      continue;
    }
    const auto is_known = [&](const Stretch& one) { return one.begin == memory.begin; };
    if (std::none_of(memories_.begin(), memories_.end(), is_known)) memories_.push_back(memory);
    protect(pages);
  }
  keeps_any_ = !kept_.empty();
  return true;
}

/// As what is kept of them says.
void HostGuard::protect(const Stretch& pages) {
  const auto is_covered = [&](bool writes) {
    return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return kept.writes == writes && kept.pages.begin <= pages.begin &&
             pages.end <= kept.pages.end;
    });
  };
  if (is_covered(true)) return set_protection(pages, PROT_NONE);
  set_protection(pages, is_covered(false) ? PROT_READ : PROT_READ | PROT_WRITE);
  for (const bool writes : {false, true}) {
    for (const Kept& kept : kept_) {
      if (kept.writes != writes) continue;
      set_protection(common(kept.pages, pages), writes ? PROT_NONE : PROT_READ);
    }
  }
}

void HostGuard::drop_if(const std::function<bool(const Kept&)>& drops) {
  const auto dropped = std::stable_partition(kept_.begin(), kept_.end(),
                                             [&](const Kept& kept) { return !drops(kept); });
  const std::vector<Kept> gone(dropped, kept_.end());
  kept_.erase(dropped, kept_.end());
  for (const Kept& one : gone) protect(one.pages);
  keeps_any_ = !kept_.empty();
}

void HostGuard::open_if(const std::function<bool(std::uint32_t)>& is_done) {
  const std::lock_guard lock(mutex_);
  drop_if([&](const Kept& kept) { return is_done(kept.operation); });
}

void HostGuard::open_all() {
  const std::lock_guard lock(mutex_);
  drop_if([](const Kept&) { return true; });
}

void HostGuard::forget(const Stretch& pages) {
  const std::lock_guard lock(mutex_);
  drop_if([&](const Kept& kept) { return pages.holds(kept.pages.begin); });
  std::erase_if(memories_, [&](const Stretch& one) { return pages.holds(one.begin); });
}

bool HostGuard::has_kept(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  return std::any_of(memories_.begin(), memories_.end(),
                     [&](const Stretch& one) { return one.holds(address); });
}

bool HostGuard::keeps_some(const Stretch& bytes) {
  const std::lock_guard lock(mutex_);
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.pages.begin < bytes.end && bytes.begin < kept.pages.end;
  });
}

void HostGuard::open(const Stretch& bytes) {
  const std::lock_guard lock(mutex_);
  for (const Stretch& memory : memories_) {
    set_protection(common(pages_of(bytes.begin, bytes.end - bytes.begin), memory),
                   PROT_READ | PROT_WRITE);
  }
}

void HostGuard::close_again(const Stretch& bytes) {
  const std::lock_guard lock(mutex_);
  for (const Stretch& memory : memories_) {
    const Stretch pages = common(pages_of(bytes.begin, bytes.end - bytes.begin), memory);
    if (pages.begin < pages.end) protect(pages);
  }
}

void HostGuard::give_up(std::uint32_t track, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  for (const Stretch& memory : memories_) {
    if (!memory.holds(address)) continue;
    drop_if(
        [&](const Kept& kept) { return kept.track == track && memory.holds(kept.pages.begin); });
    break;
  }
}

void HostGuard::give_up_page(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const Stretch page = pages_of(address, 1);
  std::vector<Kept> rest;
  for (Kept& kept : kept_) {
    if (!kept.pages.holds(address)) continue;
    if (page.end < kept.pages.end) {
      rest.push_back(kept);
      rest.back().pages.begin = page.end;
    }
    kept.pages.end = page.begin;
  }
  std::erase_if(kept_, [](const Kept& kept) { return kept.pages.begin >= kept.pages.end; });
  kept_.insert(kept_.end(), rest.begin(), rest.end());
  keeps_any_ = !kept_.empty();
  set_protection(page, PROT_READ | PROT_WRITE);
}

}  // namespace warpmeter::runtime

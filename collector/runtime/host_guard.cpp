#include "collector/runtime/host_guard.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "collector/model/machine/align.h"
#include "collector/runtime/host_fault.h"

namespace warpmeter::runtime {
namespace {

/// Each is looked at with each.
constexpr std::size_t most_kept = 512;

void protect(std::uint64_t begin, std::uint64_t end, int protection) {
  if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

}  // namespace

void HostGuard::write(std::uint64_t address, std::uint64_t bytes) {
  if (!written_.empty() && written_.back().end == address) {
    written_.back().end += bytes;
  } else {
    written_.push_back({address, address + bytes});
  }
}

bool HostGuard::close(std::uint32_t operation, std::uint32_t track) {
  const std::vector<Stretch> all = std::exchange(written_, {});
  if (!all.empty() && !is_catching_host_faults()) return false;
  const std::lock_guard lock(mutex_);
  for (const Stretch& written : all) {
    const Block* block = memory_.find(written.begin);
    if (block == nullptr || !block->has_own_view) continue;
    // What lies behind the allocation in its last page is nobody's.
    const std::uint64_t end_of_block = block->address + block->bytes;
    const std::uint64_t begin = model::round_up(written.begin, host_page_bytes);
    const std::uint64_t end = written.end >= end_of_block
                                  ? model::round_up(end_of_block, host_page_bytes)
                                  : written.end / host_page_bytes * host_page_bytes;
    if (begin >= end) continue;
    const auto is_same = [&](const Kept& kept) {
      return kept.track == track && kept.pages.begin == begin && kept.pages.end == end;
    };
    const auto same = std::find_if(kept_.begin(), kept_.end(), is_same);
    if (same != kept_.end()) {  // it is over before this one is
      same->operation = operation;
    } else if (kept_.size() == most_kept) {
      is_partial_ = true;
      continue;
    } else {
      kept_.push_back({operation, track, {begin, end}});
    }
    const auto is_known = [&](const Stretch& one) { return one.begin == block->address; };
    if (std::none_of(allocations_.begin(), allocations_.end(), is_known)) {
      allocations_.push_back({block->address, block->address + block->mapping_bytes});
    }
    protect(begin, end, PROT_NONE);
  }
  return true;
}

/// Opens those of which it holds, but for what others keep.
void HostGuard::drop_if(const std::function<bool(const Kept&)>& drops) {
  const auto dropped = std::stable_partition(kept_.begin(), kept_.end(),
                                             [&](const Kept& kept) { return !drops(kept); });
  for (auto gone = dropped; gone != kept_.end(); ++gone) {
    protect(gone->pages.begin, gone->pages.end, PROT_READ | PROT_WRITE);
    for (auto kept = kept_.begin(); kept != dropped; ++kept) {
      protect(std::max(gone->pages.begin, kept->pages.begin),
              std::min(gone->pages.end, kept->pages.end), PROT_NONE);
    }
  }
  kept_.erase(dropped, kept_.end());
}

void HostGuard::open_if(const std::function<bool(std::uint32_t)>& is_done) {
  const std::lock_guard lock(mutex_);
  drop_if([&](const Kept& kept) { return is_done(kept.operation); });
}

void HostGuard::open_all() {
  const std::lock_guard lock(mutex_);
  drop_if([](const Kept&) { return true; });
}

void HostGuard::forget(const Block& block) {
  const std::lock_guard lock(mutex_);
  const auto is_inside = [&](const Stretch& one) {
    return one.begin - block.address < block.mapping_bytes;
  };
  drop_if([&](const Kept& kept) { return is_inside(kept.pages); });
  std::erase_if(allocations_, is_inside);
}

bool HostGuard::has_kept(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  return std::any_of(allocations_.begin(), allocations_.end(),
                     [&](const Stretch& one) { return one.holds(address); });
}

std::uint32_t HostGuard::open_at(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  std::uint32_t last = 0;
  for (const Kept& kept : kept_) {
    if (kept.pages.holds(address)) last = std::max(last, kept.operation);
  }
  for (const Stretch& allocation : allocations_) {
    if (!allocation.holds(address)) continue;
    drop_if([&](const Kept& kept) {
      const bool is_here = kept.operation == last && allocation.holds(kept.pages.begin);
      return is_here || kept.pages.holds(address);
    });
  }
  const std::uint64_t page = address / host_page_bytes * host_page_bytes;
  protect(page, page + host_page_bytes, PROT_READ | PROT_WRITE);
  return last;
}

}  // namespace warpmeter::runtime

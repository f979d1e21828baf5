// SPDX-License-Identifier: MIT
#include "collector/model/check/bulk_copies.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::check {

void BulkCopies::start_block() {
  stretches_.clear();
  groups_.clear();
}

/// A copy is told piece by piece.
void BulkCopies::start(const Stretch& stretch) {
  if (!stretches_.empty()) {
    Stretch& last = stretches_.back();
    const bool goes_on = last.instruction == stretch.instruction && last.thread == stretch.thread &&
                         last.is_read == stretch.is_read && last.end == stretch.begin &&
                         !last.object && last.group == 0;
    if (goes_on) {
      last.end = stretch.end;
      return;
    }
  }
  stretches_.push_back(stretch);
}

void BulkCopies::count(std::uint32_t thread, std::uint64_t object, bool phase) {
  for (Stretch& stretch : stretches_) {
    if (stretch.thread != thread || stretch.is_read || stretch.object) continue;
    stretch.object = object;
    stretch.phase = phase;
  }
}

void BulkCopies::wait(std::uint64_t object, bool phase) {
  std::erase_if(stretches_, [&](const Stretch& stretch) {
    return stretch.object == object && stretch.phase != phase;
  });
}

void BulkCopies::advance(const CopyInfo& info, std::uint32_t thread) {
  std::uint32_t& groups = groups_[thread];
  if (info.kind == CopyInfo::Kind::commit) {
    ++groups;
    for (Stretch& stretch : stretches_) {
      if (stretch.thread == thread && stretch.is_read && stretch.group == 0) stretch.group = groups;
    }
    return;
  }
  const std::uint32_t last = groups - std::min(groups, info.groups);
  std::erase_if(stretches_, [&](const Stretch& stretch) {
    return stretch.thread == thread && stretch.group != 0 && stretch.group <= last;
  });
}

std::vector<Stretch> BulkCopies::loads() const {
  std::vector<Stretch> loads;
  std::copy_if(stretches_.begin(), stretches_.end(), std::back_inserter(loads),
               [](const Stretch& stretch) { return !stretch.is_read; });
  return loads;
}

const Stretch* BulkCopies::under_way(std::uint64_t offset, std::uint32_t width, bool writes) const {
  const auto found =
      std::find_if(stretches_.begin(), stretches_.end(), [&](const Stretch& stretch) {
        return (writes || !stretch.is_read) && offset < stretch.end &&
               stretch.begin < offset + width;
      });
  return found == stretches_.end() ? nullptr : &*found;
}

}  // namespace warpmeter::model::check

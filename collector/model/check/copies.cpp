// SPDX-License-Identifier: MIT
#include "collector/model/check/copies.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::check {
namespace {

constexpr std::uint64_t page_bytes = 4096;

}  // namespace

Copies::Copies(const Program& program, std::size_t shared_bytes, std::size_t threads)
    : infos_(program.copies) {
  if (infos_.empty()) return;
  std::sort(infos_.begin(), infos_.end(),
            [](const CopyInfo& a, const CopyInfo& b) { return a.instruction < b.instruction; });
  threads_.resize(threads);
  byte_of_.resize(shared_bytes, nothing);
}

void Copies::start_block() {
  for (Thread& thread : threads_) thread = {};
  std::fill(byte_of_.begin(), byte_of_.end(), nothing);
  all_.clear();
  pages_.clear();
  hand_overs_.clear();
  hand_over_count_ = 0;
}

const CopyInfo* Copies::find(std::uint32_t instruction) const {
  const auto found = std::lower_bound(
      infos_.begin(), infos_.end(), instruction,
      [](const CopyInfo& info, std::uint32_t wanted) { return info.instruction < wanted; });
  return found != infos_.end() && found->instruction == instruction ? &*found : nullptr;
}

void Copies::start(const Copy& started) {
  Copy copy = started;
  copy.number = static_cast<std::uint32_t>(all_.size());
  threads_[copy.thread].open.push_back(copy);
  const std::uint64_t end = std::min<std::uint64_t>(copy.offset + copy.width, byte_of_.size());
  for (std::uint64_t byte = copy.offset; byte < end; ++byte) byte_of_[byte] = copy.number;
  all_.push_back(copy);
  count_pages(copy, true);
}

void Copies::count_pages(const Copy& copy, bool begins) {
  if (copy.source == copy.source_end) return;
  for (std::uint64_t page = copy.source / page_bytes; page <= (copy.source_end - 1) / page_bytes;
       ++page) {
    std::uint32_t& count = pages_[page];
    count = begins ? count + 1 : count - 1;
    if (count == 0) pages_.erase(page);
  }
}

/// Bytes that another copy has taken over since are that one's.
void Copies::free_bytes(const Copy& copy) {
  count_pages(copy, false);
  const std::uint64_t end = std::min<std::uint64_t>(copy.offset + copy.width, byte_of_.size());
  for (std::uint64_t byte = copy.offset; byte < end; ++byte) {
    if (byte_of_[byte] == copy.number) byte_of_[byte] = nothing;
  }
}

void Copies::finish(std::vector<Copy>& copies, std::vector<Copy>& done) {
  for (const Copy& copy : copies) free_bytes(copy);
  std::move(copies.begin(), copies.end(), std::back_inserter(done));
  copies.clear();
}

std::vector<Copy> Copies::advance(const CopyInfo& info, std::uint32_t thread) {
  Thread& of = threads_[thread];
  std::vector<Copy> done;
  if (info.kind == CopyInfo::Kind::commit) {
    of.groups.push_back(std::move(of.open));
    of.open.clear();
    return done;
  }
  const bool waits_for_all = info.kind == CopyInfo::Kind::wait_all;
  const std::size_t kept = waits_for_all ? 0 : std::min<std::size_t>(info.groups, of.groups.size());
  const auto end = of.groups.end() - static_cast<std::ptrdiff_t>(kept);
  for (auto group = of.groups.begin(); group != end; ++group) finish(*group, done);
  of.groups.erase(of.groups.begin(), end);
  if (waits_for_all) finish(of.open, done);
  return done;
}

std::vector<Copy> Copies::hand_over(std::uint32_t thread, std::uint64_t object, bool phase) {
  for (HandOver& known : hand_overs_) {
    if (known.object == object && known.phase != phase) known.is_over = true;
  }
  std::erase_if(hand_overs_, [&](const HandOver& known) {
    return known.object == object && known.thread == thread && known.phase == phase;
  });
  hand_overs_.push_back({object, thread, ++hand_over_count_, phase});
  std::vector<Copy> handed_over;
  const auto mark = [&](std::vector<Copy>& copies) {
    for (Copy& copy : copies) {
      if (copy.handed_over != 0) continue;
      copy.handed_over = hand_over_count_;
      handed_over.push_back(copy);
    }
  };
  Thread& of = threads_[thread];
  for (std::vector<Copy>& group : of.groups) mark(group);
  mark(of.open);
  return handed_over;
}

void Copies::wait(std::uint64_t object, bool phase) {
  std::erase_if(hand_overs_, [&](const HandOver& known) {
    const bool is_done = known.object == object && (known.is_over || known.phase != phase);
    if (is_done) finish(known);
    return is_done;
  });
}

/// The thread's copies until then are done; its groups stay.
void Copies::finish(const HandOver& handed_over) {
  const auto take_done = [&](std::vector<Copy>& copies) {
    std::erase_if(copies, [&](const Copy& copy) {
      const bool is_done = copy.handed_over != 0 && copy.handed_over <= handed_over.number;
      if (is_done) free_bytes(copy);
      return is_done;
    });
  };
  Thread& of = threads_[handed_over.thread];
  for (std::vector<Copy>& group : of.groups) take_done(group);
  take_done(of.open);
}

const Copy* Copies::reading(std::uint64_t address, std::uint32_t width) const {
  if (!pages_.contains(address / page_bytes)) return nullptr;
  const auto reads = [&](const Copy& copy) {
    return address < copy.source_end && copy.source < address + width;
  };
  for (const Thread& thread : threads_) {
    for (const std::vector<Copy>& group : thread.groups) {
      const auto found = std::find_if(group.begin(), group.end(), reads);
      if (found != group.end()) return &*found;
    }
    const auto found = std::find_if(thread.open.begin(), thread.open.end(), reads);
    if (found != thread.open.end()) return &*found;
  }
  return nullptr;
}

const Copy* Copies::under_way(std::uint64_t offset, std::uint32_t width) const {
  const std::uint64_t end = std::min<std::uint64_t>(offset + width, byte_of_.size());
  for (std::uint64_t byte = offset; byte < end; ++byte) {
    if (byte_of_[byte] != nothing) return &all_[byte_of_[byte]];
  }
  return nullptr;
}

}  // namespace warpmeter::model::check

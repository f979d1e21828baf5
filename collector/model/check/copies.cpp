#include "collector/model/check/copies.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::check {

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
}

const CopyInfo* Copies::find(std::uint32_t instruction) const {
  const auto found = std::lower_bound(
      infos_.begin(), infos_.end(), instruction,
      [](const CopyInfo& info, std::uint32_t wanted) { return info.instruction < wanted; });
  return found != infos_.end() && found->instruction == instruction ? &*found : nullptr;
}

void Copies::start(const Copy& copy) {
  threads_[copy.thread].open.push_back(copy);
  const std::uint64_t end = std::min<std::uint64_t>(copy.offset + copy.width, byte_of_.size());
  for (std::uint64_t byte = copy.offset; byte < end; ++byte) {
    byte_of_[byte] = static_cast<std::uint32_t>(all_.size());
  }
  all_.push_back(copy);
}

/// Bytes that another copy has taken over since are that one's.
void Copies::finish(std::vector<Copy>& copies, std::vector<Copy>& done) {
  for (const Copy& copy : copies) {
    const std::uint64_t end = std::min<std::uint64_t>(copy.offset + copy.width, byte_of_.size());
    for (std::uint64_t byte = copy.offset; byte < end; ++byte) {
      std::uint32_t& owner = byte_of_[byte];
      if (owner != nothing && all_[owner].thread == copy.thread) owner = nothing;
    }
  }
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

const Copy* Copies::under_way(std::uint64_t offset, std::uint32_t width) const {
  const std::uint64_t end = std::min<std::uint64_t>(offset + width, byte_of_.size());
  for (std::uint64_t byte = offset; byte < end; ++byte) {
    if (byte_of_[byte] != nothing) return &all_[byte_of_[byte]];
  }
  return nullptr;
}

}  // namespace warpmeter::model::check

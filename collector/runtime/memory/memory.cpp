// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t page = std::uint64_t{2} << 20;  // for the device
/// Behind it begins what kernels allocate themselves.
constexpr std::uint64_t last_allocation = model::first_of_heap - page;
/// Small allocations share a page on hardware, so that there is memory before them as well. Before
/// and behind the pages of an allocation lie those of others, or of the driver: 12 of 16
/// allocations on an H200 (driver 580) could be read just before, as many just behind.
constexpr std::uint64_t before_small_ones = page / 2;

/// The pages of an allocation, and how much of it lies before the allocation.
struct Pages {
  std::uint64_t bytes = 0, before = 0;
};
Pages pages_of(std::uint64_t bytes) {
  const std::uint64_t before = bytes < page / 2 ? before_small_ones : page;
  return {model::round_up(before + bytes, page) + page, before};
}

/// The most freed memory that is kept beyond the highest use.
constexpr std::uint64_t most_spare = std::uint64_t{32} << 20;

/// Memory that host and device share begins here, where this machine's programs have nothing else:
/// the same addresses every time. They are wishes.
constexpr std::uint64_t first_shared = 0x500000000000;

/// The bytes of its device's memory that a block takes: not what is the host's, another process's,
/// or the physical memory's behind its addresses.
std::uint64_t bytes_taken(const Block& block) {
  const bool has_none = block.kind == MemoryKind::registered || block.kind == MemoryKind::mapped;
  return has_none || block.is_imported ? 0 : block.bytes;
}

std::byte* map(std::uint64_t bytes, std::uint64_t wished = 0, int sharing = MAP_PRIVATE) {
  void* mapped = mmap(reinterpret_cast<void*>(wished), bytes, PROT_READ | PROT_WRITE,
                      sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

/// In large pages where the system has them: it finds those sooner. A very large block is rarely
/// touched everywhere. `data`: how much of it will be used.
std::byte* map_large(std::uint64_t bytes, std::uint64_t data) {
  std::byte* const mapped = map(bytes);
  const bool is_worth_it = data > page && data <= 512 * page;
  if (mapped != nullptr && is_worth_it) madvise(mapped, bytes, MADV_HUGEPAGE);
  return mapped;
}

}  // namespace

/// Addresses of the device are reserved once, all of them: a host that touches one ends.
Memory::Memory(std::uint64_t limit) : limit_(limit), next_shared_(first_shared) {
  // Where that cannot be had, a mistake of the host is not noticed, and all else is as it was.
  [[maybe_unused]] const void* reserved =
      mmap(reinterpret_cast<void*>(model::first_allocation),
           model::first_window - page - model::first_allocation, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

const Block* Memory::keep(Block block, const model::DeviceMemory::Slack& slack) {
  const std::uint64_t address = block.address;
  machine_.lend(address, {block.host, block.bytes}, block.name, slack);
  used_[block.device] += bytes_taken(block);
  const Block* kept = (blocks_[address] = std::make_unique<Block>(std::move(block))).get();
  if (observer_ != nullptr) observer_->allocated(*kept);
  return kept;
}

std::uint64_t Memory::place(std::uint64_t bytes) {
  const Pages pages = pages_of(bytes);
  if (bytes == 0 || pages.bytes > last_allocation - next_) return 0;
  return std::exchange(next_, next_ + pages.bytes + page) + pages.before;
}

std::uint64_t Memory::reserve(std::uint64_t bytes) {
  const std::uint64_t address = place(bytes);
  if (address != 0) reserved_[address] = bytes;
  return address;
}

std::uint64_t Memory::addresses(std::uint64_t bytes, std::uint64_t alignment,
                                std::uint64_t wished) {
  // A page is left free behind everything, so that what runs over its end meets nothing; but a
  // program may want two ranges behind one another.
  constexpr std::uint64_t most_skipped = std::uint64_t{1} << 40;
  const std::uint64_t least = next_ - page;
  const bool is_granted =
      wished >= model::first_allocation && wished >= least && wished - least < most_skipped;
  const std::uint64_t begin = is_granted ? wished : model::round_up(next_, alignment);
  if (begin < least || begin > last_allocation || bytes > last_allocation - begin) return 0;
  next_ = begin + bytes + page;
  return begin;
}

bool Memory::is_reserved(std::uint64_t address) const {
  const auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return address - begin < bytes;
}

const Block* Memory::allocate(std::uint64_t bytes, int device, Label label, std::uint64_t at) {
  if (bytes == 0 || bytes > limit_ - used(device)) return nullptr;
  const Pages pages = pages_of(bytes);
  Block block;
  block.bytes = bytes;
  block.device = device;
  block.name = std::move(label.name);
  block.where = std::move(label.where);
  block.address = at;
  block.mapping_bytes = pages.bytes;
  if (at == 0 && !place_again(block)) return nullptr;
  if (block.mapping == nullptr) block.mapping = map_large(pages.bytes, bytes);
  if (block.mapping == nullptr) return nullptr;
  taken_ += pages.bytes;
  most_taken_ = std::max(most_taken_, taken_);
  block.host = static_cast<std::byte*>(block.mapping) + pages.before;
  return keep(std::move(block), {pages.before, pages.bytes - pages.before - bytes});
}

/// Who looks for mistakes has to tell what was freed from what lies there now.
bool Memory::place_again(Block& block) {
  block.may_be_again = observer_ == nullptr;
  if (block.may_be_again) {
    if (const auto piece = freed_.take(block.mapping_bytes, page)) {
      block.address = piece->begin + pages_of(block.bytes).before;
      block.mapping = piece->pages;
      return true;
    }
  }
  block.address = place(block.bytes);
  return block.address != 0;
}

Memory::SharedMapping Memory::map_shared(std::uint64_t wished, std::uint64_t bytes,
                                         bool is_only_there) {
  const int sharing =
      (has_two_views_ ? MAP_SHARED : MAP_PRIVATE) | (is_only_there ? MAP_FIXED_NOREPLACE : 0);
  std::byte* mapped = map(bytes, wished, sharing);
  if (mapped == nullptr || !has_two_views_) return {mapped, mapped};
  void* view =
      mremap(mapped, 0, bytes, MREMAP_MAYMOVE);  // the view of no bytes: the same pages once more
  if (view == MAP_FAILED) {
    munmap(mapped, bytes);
    return {};
  }
  const auto begin = reinterpret_cast<std::uint64_t>(mapped);
  with_two_views_[begin] = begin + bytes;
  return {mapped, static_cast<std::byte*>(view)};
}

void Memory::unmap_shared(const SharedMapping& mapping, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(mapping.mapping);
  if (with_two_views_.erase(begin) > 0 && observer_ != nullptr) {
    observer_->unmapped({begin, begin + bytes});
  }
  munmap(mapping.mapping, bytes);
  if (mapping.view != mapping.mapping) munmap(mapping.view, bytes);
}

Stretch Memory::pages_with_two_views(std::uint64_t address) const {
  const auto after = with_two_views_.upper_bound(address);
  if (after == with_two_views_.begin()) return {};
  const auto& [begin, end] = *std::prev(after);
  return address < end ? Stretch{begin, end} : Stretch{};
}

const Block* Memory::allocate_shared(std::uint64_t bytes, MemoryKind kind, int device,
                                     Label label) {
  if (bytes == 0 || bytes > limit_ - used(device)) return nullptr;
  Block block;
  block.bytes = bytes;
  block.kind = kind;
  block.device = device;
  block.name = std::move(label.name);
  block.where = std::move(label.where);
  block.mapping_bytes = model::round_up(bytes, host_page_bytes);
  const SharedMapping mapping = map_shared(next_shared_, block.mapping_bytes, false);
  if (mapping.mapping == nullptr) return nullptr;
  next_shared_ += model::round_up(block.mapping_bytes, page) + page;
  block.mapping = mapping.mapping;
  block.host = mapping.view;
  block.has_own_view = mapping.view != mapping.mapping;
  block.address = reinterpret_cast<std::uint64_t>(block.mapping);
  const std::uint64_t behind = block.mapping_bytes - bytes;
  return keep(std::move(block), {0, behind});
}

const Block* Memory::adopt(void* host, std::uint64_t bytes, MemoryKind kind, Label label) {
  const auto address = reinterpret_cast<std::uint64_t>(host);
  const auto after = blocks_.upper_bound(address + bytes - 1);
  if (after != blocks_.begin()) {
    const Block& before = *std::prev(after)->second;
    if (before.address + before.bytes > address) return nullptr;
  }
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.kind = kind;
  block.host = static_cast<std::byte*>(host);
  block.name = std::move(label.name);
  block.where = std::move(label.where);
  return keep(std::move(block), {});
}

const Block* Memory::show(std::uint64_t address, std::byte* host, std::uint64_t bytes, int device,
                          const Label& label, bool is_read_only) {
  Block block;
  block.address = address;
  block.bytes = bytes;
  block.kind = MemoryKind::mapped;
  block.device = device;
  block.host = host;
  block.name = label.name;
  block.where = label.where;
  const Block* kept = keep(std::move(block), {});
  machine_.find(address)->is_read_only = is_read_only;
  return kept;
}

bool Memory::take(int device, std::uint64_t bytes) {
  if (bytes > limit_ - used(device)) return false;
  used_[device] += bytes;
  return true;
}

void Memory::lend(std::uint64_t address, std::byte* host, std::uint64_t bytes,
                  const std::string& name, const model::DeviceMemory::Slack& slack) {
  machine_.lend(address, {host, bytes}, name, slack);
}

const Block* Memory::before(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.begin() ? nullptr : std::prev(after)->second.get();
}

const Block* Memory::after(std::uint64_t address) const {
  const auto after = blocks_.upper_bound(address);
  return after == blocks_.end() ? nullptr : after->second.get();
}

const Block* Memory::find(std::uint64_t address) const {
  const Block* block = before(address);
  return block != nullptr && address - block->address < block->bytes ? block : nullptr;
}

bool Memory::release(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  Block& block = *found->second;
  if (block.is_imported && --block.opened > 0) return true;
  if (observer_ != nullptr) observer_->released(block);
  machine_.remove(address);
  used_[block.device] -= bytes_taken(block);
  if (block.kind == MemoryKind::device && !block.is_imported) taken_ -= block.mapping_bytes;
  const bool are_own = block.pages.process == 0;  // not those of several processes
  if (block.may_be_again) {
    freed_.add(block.address - pages_of(block.bytes).before, block.mapping_bytes, page,
               are_own ? static_cast<std::byte*>(block.mapping) : nullptr);
    if (are_own) block.mapping = nullptr;
    freed_.keep(most_taken_ - taken_ + most_spare);
  }
  if (block.has_own_view) {
    unmap_shared({block.mapping, block.host}, block.mapping_bytes);
  } else if (block.mapping != nullptr) {
    munmap(block.mapping, block.mapping_bytes);
  }
  block.pages.drop();
  blocks_.erase(found);
  return true;
}

std::byte* Memory::translate(std::uint64_t address, std::uint64_t bytes, bool& inside) {
  const model::Allocation* allocation = machine_.find(address);
  if (allocation == nullptr) return nullptr;
  const std::uint64_t offset = address - allocation->address;
  inside = bytes <= allocation->data.size() - offset;
  return allocation->data.data() + offset;
}

}  // namespace warpmeter::runtime

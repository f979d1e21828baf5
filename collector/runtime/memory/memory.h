// SPDX-License-Identifier: MIT
// The memory that a program allocates: where it lies for the program, for the machine and for
// copies.
//
// The address that a program gets for device memory is reserved and can be touched by nobody, so
// that host code which uses it by mistake ends as it would on hardware; the bytes lie elsewhere in
// this process, and the machine translates as it does for all of its memory. Managed, pinned and
// registered memory is at one address for both.
//
// An allocation has its pages of 2 MiB to itself, as large ones have on hardware. An access of a
// kernel beside the data but inside of these pages, or in the one before or behind them, goes on
// there as on hardware, and is remarked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "collector/model/machine/memory/memory.h"
#include "collector/runtime/memory/freed_memory.h"
#include "collector/runtime/memory/shared_pages.h"

namespace warpmeter::runtime {

/// The size of this machine's pages.
inline constexpr std::uint64_t host_page_bytes = 4096;

/// Bytes, or pages.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
  bool holds(std::uint64_t address) const { return begin <= address && address < end; }
};

/// `mapped`: what virtual_memory.h shows; the memory itself is taken there.
enum class MemoryKind : std::uint8_t { device, managed, pinned, registered, module, mapped };

/// The name of a piece of memory in messages, and where it was allocated.
struct Label {
  std::string
      name;  ///< "'d_a' (allocated at vec.cu:12)", "memory of 4,096 bytes (allocated in main)"
  std::string where;  ///< "vec.cu:12", "main"; empty: not known

  Label(std::string text) : name(std::move(text)) {}
  Label(const char* text) : name(text) {}
  Label(std::string text, std::string place) : name(std::move(text)), where(std::move(place)) {}
};

struct Block {
  std::uint64_t address = 0, bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  std::byte* host = nullptr;  ///< where the bytes lie in this process
  std::string name, where;    ///< see Label
  void* mapping = nullptr;    ///< ours, to be given back; null: none
  std::size_t mapping_bytes = 0;
  bool has_own_view = false;  ///< `host` is another view of the mapping than the program's
  SharedPages pages;          ///< that it lies in, where other processes have it too
  unsigned flags = 0;  ///< the flags of pinned and registered memory, as the program gave them
  bool may_be_again = false;         ///< others may lie there after it
  bool is_of_graph = false;          ///< true if a graph allocated it
  bool is_imported = false;          ///< it is another process's
  bool is_of_imported_pool = false;  ///< and is freed as if it were this one's
  unsigned opened = 0;               ///< how often the program has opened that
  /// The number of the context that it was allocated in and goes with; 0: the device's
  /// primary one.
  unsigned long long context = 0;

  bool may_be_freed() const { return !is_imported || is_of_imported_pool; }
  bool holds(std::uint64_t at, std::uint64_t count) const {
    return at >= address && at - address <= bytes && count <= bytes - (at - address);
  }
};

/// Is told of what is allocated and what is given back.
class MemoryObserver {
 public:
  virtual ~MemoryObserver() = default;
  virtual void allocated(const Block& block) = 0;
  virtual void released(const Block& block) = 0;
  /// Tells of fresh bytes in a stretch: bytes that nobody can have written yet, or that somebody
  /// may write by another address.
  virtual void is_fresh(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void is_shared(std::uint64_t address, std::uint64_t bytes) = 0;
  /// The stretches are what they are for now.
  virtual void renewed() = 0;
  /// Pages with two views (Memory::use_two_views) go.
  virtual void unmapped(const Stretch& pages) = 0;
};

class Memory {
 public:
  /// `limit`: bytes that each device has.
  explicit Memory(std::uint64_t limit);
  /// From now on memory that host and device share has a view for the host, where it can be taken
  /// from it (host_guard.h), and one for the machine and copies.
  void use_two_views() { has_two_views_ = true; }
  /// Pages that host and device share, at an address that is wished: where the bytes lie for the
  /// machine. Null where they cannot be had.
  struct SharedMapping {
    void* mapping = nullptr;
    std::byte* view = nullptr;  ///< the mapping itself where there is one view only
  };
  SharedMapping map_shared(std::uint64_t wished, std::uint64_t bytes, bool is_only_there);
  void unmap_shared(const SharedMapping& mapping, std::uint64_t bytes);
  /// Those around an address, where the host has a view of its own of them; empty: it has none.
  Stretch pages_with_two_views(std::uint64_t address) const;

  /// Device memory, zeroed; null when there is not that much left. `at`: where reserve() said.
  const Block* allocate(std::uint64_t bytes, int device, Label label, std::uint64_t at = 0);
  /// Addresses for that much, of which nothing is allocated yet; 0 when there are none left.
  std::uint64_t reserve(std::uint64_t bytes);
  /// Addresses that the program itself decides about, at the wished ones where those come next; 0
  /// when there are none left.
  std::uint64_t addresses(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wished);
  /// True if the address was reserved for what is allocated later, by a graph.
  bool is_reserved(std::uint64_t address) const;
  /// Memory that host and device reach at one address.
  const Block* allocate_shared(std::uint64_t bytes, MemoryKind kind, int device, Label label);
  /// The program's own memory, from now on for kernels too. Null where some of it is already.
  const Block* adopt(void* host, std::uint64_t bytes, MemoryKind kind, Label label);
  /// Gives the block that begins there to a graph.
  void give_to_graph(std::uint64_t address) { blocks_.at(address)->is_of_graph = true; }
  void give_flags(std::uint64_t address, unsigned flags) { blocks_.at(address)->flags = flags; }
  /// Gives the block that begins there to a context.
  void give_to_context(std::uint64_t address, unsigned long long context) {
    blocks_.at(address)->context = context;
  }
  /// Lets other processes have the allocation that holds the address; it stays where it is. Null
  /// where there is no memory for it.
  const Block* share(std::uint64_t address);
  /// Memory that another process shares, from a place in its pages on; the same once more where it
  /// is open already. Null where it is gone.
  const Block* open(const SharedPages& pages, std::uint64_t before, std::uint64_t bytes, int device,
                    Label label);
  /// As often as it was opened; false where nothing opened begins there.
  bool close(std::uint64_t address);
  /// Gives the opened block that begins there to a pool.
  void give_to_pool(std::uint64_t address) { blocks_.at(address)->is_of_imported_pool = true; }
  /// A stretch of such addresses, and where its bytes lie.
  const Block* show(std::uint64_t address, std::byte* host, std::uint64_t bytes, int device,
                    const Label& label, bool is_read_only);
  /// Device memory that has no address yet; false when there is not that much left.
  bool take(int device, std::uint64_t bytes);
  void give_back(int device, std::uint64_t bytes) { used_[device] -= bytes; }
  /// Bytes at a given address that lie elsewhere: a module's constants.
  void lend(std::uint64_t address, std::byte* host, std::uint64_t bytes, const std::string& name,
            const model::DeviceMemory::Slack& slack);
  void take_back(std::uint64_t address) { machine_.remove(address); }

  /// The block that holds the address; null when none does.
  const Block* find(std::uint64_t address) const;
  /// The last block that begins before the address, or there; null: none does.
  const Block* before(std::uint64_t address) const;
  /// The first one that begins behind it.
  const Block* after(std::uint64_t address) const;
  /// Releases an opened block: as often as that. False when no block begins there.
  bool release(std::uint64_t address);

  /// Where bytes of the device, or of a module's variable, lie in this process; null where the
  /// address is none of the device's. `inside`: whether all of them belong to one allocation.
  std::byte* translate(std::uint64_t address, std::uint64_t bytes, bool& inside);

  /// One, which stays; null: nobody.
  void tell(MemoryObserver* observer) { observer_ = observer; }
  MemoryObserver* observer() const { return observer_; }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t used(int device) const {
    const auto found = used_.find(device);
    return found == used_.end() ? 0 : found->second;
  }
  model::DeviceMemory& machine() { return machine_; }
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [address, block] : blocks_) visit(*block);
  }

 private:
  /// Where an allocation may lie; 0 when there is no room left.
  std::uint64_t place(std::uint64_t bytes);
  /// Where one may lie that is given back some day, and pages for it, if those of an earlier one
  /// fit.
  bool place_again(Block& block);
  const Block* keep(Block block, const model::DeviceMemory::Slack& slack);

  const std::uint64_t limit_;
  bool has_two_views_ = false;
  std::map<int, std::uint64_t> used_;  ///< bytes by device
  std::uint64_t next_ = model::first_allocation, next_shared_;
  MemoryObserver* observer_ = nullptr;
  model::DeviceMemory machine_;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;  ///< by address
  FreedMemory freed_;                                       ///< for devices
  std::uint64_t taken_ = 0, most_taken_ = 0;                ///< bytes of pages in blocks: now, ever
  std::map<std::uint64_t, std::uint64_t> reserved_;         ///< bytes by address
  std::map<std::uint64_t, std::uint64_t> with_two_views_;   ///< their ends by where they begin
};

}  // namespace warpmeter::runtime

// SPDX-License-Identifier: MIT
// Where addresses lead: device allocations, and the windows of the generic address space.
//
// Device allocations are aligned to 256 bytes, as the hardware's are (sectors depend on it), and
// lie far apart, so that an access past the end of one never lands in another unnoticed.
//
// Addresses in the other spaces are small offsets; cvta adds the space's window to make them
// generic.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpmeter::model {

/// `cluster`: shared memory of another block of the cluster (cluster.h), in the window of shared.
enum class AddressSpace : std::uint8_t { generic, global, shared, local, constant, param, cluster };
std::string_view to_string(AddressSpace space);  ///< "global", "shared", …

/// The windows follow each other, so that "not global" is one range check.
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t param_window = 0x7e0000000000;
inline constexpr std::uint64_t constant_window = param_window + window_bytes;
inline constexpr std::uint64_t local_window = constant_window + window_bytes;
inline constexpr std::uint64_t shared_window = local_window + window_bytes;
inline constexpr std::uint64_t first_window = param_window;
inline constexpr std::uint64_t all_windows_bytes = 4 * window_bytes;

/// The window of a space; 0 for global, whose addresses are generic ones already.
std::uint64_t window_of(AddressSpace space);

inline constexpr std::uint64_t allocation_alignment = 256;
/// Between two allocations: at least this, and at least as much as the first of them holds.
inline constexpr std::uint64_t least_gap = std::uint64_t{1} << 21;
inline constexpr std::uint64_t first_allocation = 0x700000000000;
/// Where the memory begins that kernels take with malloc, beyond what hosts allocate: a runtime
/// lends memory at addresses of its own choice, and the two must not meet.
inline constexpr std::uint64_t first_of_heap = 0x7c0000000000;
/// Behind it all. No other memory lies in between: what hosts allocate begins higher.
inline constexpr std::uint64_t end_of_heap = 0x7d0000000000;
/// Where a module's own `.global` variables begin: beyond what the address sanitizer keeps for
/// itself.
inline constexpr std::uint64_t first_module_variable = 0x680000000000;

struct Allocation {
  std::uint64_t address = 0;
  std::string name;           ///< for messages, see shown_name.h; empty: from the kernel's malloc
  std::span<std::byte> data;  ///< `own`, or what somebody else owns
  std::vector<std::byte> own;
  /// Memory of the same owner right before and behind the data, which hardware lets a kernel reach
  /// because it maps whole pages.
  std::uint64_t slack_before = 0, slack_behind = 0;
  bool is_read_only = false;  ///< kernels may not write it
  /// It is another device's, and closed to kernels of the one that a launch runs on.
  bool is_out_of_reach = false;
  /// True if its content depends on the order in which threads came to an atomic; see order.h.
  std::atomic<bool> is_ordered{false};

  // Flags for a launch whose blocks run side by side; see sharing.h.
  std::atomic<bool> is_loaded{false}, is_stored{false};
  std::atomic<std::uint64_t*> touched{nullptr};  ///< which words

  std::uint64_t end() const { return address + data.size(); }
};

/// The global memory of launches. They may come from several threads: over one memory they follow
/// each other (see launch()). Nothing is allocated, lent or removed from outside while one runs.
class DeviceMemory {
 public:
  /// Takes the contents over and says where they are. Successive allocations ascend.
  std::uint64_t allocate(std::vector<std::byte> contents, std::string name);

  /// At a given address, beyond which nothing may lie within 256 bytes.
  void place(std::uint64_t address, std::vector<std::byte> contents, std::string name);

  /// Memory that somebody else owns and keeps for as long as it is not removed, at an address that
  /// they choose: where it is on this machine, for example. It may not reach into a window. With
  /// slack, memory of theirs before and behind it as well.
  struct Slack {
    std::uint64_t before = 0, behind = 0;
  };
  void lend(std::uint64_t address, std::span<std::byte> contents, std::string name,
            const Slack& slack);
  void lend(std::uint64_t address, std::span<std::byte> contents, std::string name) {
    lend(address, contents, std::move(name), {});
  }

  /// The allocation that holds the address; null when none does.
  const Allocation* find(std::uint64_t address) const;
  Allocation* find(std::uint64_t address);
  /// The allocation whose slack holds the address; null when none does.
  Allocation* find_slack(std::uint64_t address);

  template <class Visit>
  void for_each(Visit visit) {
    for (const auto& allocation : allocations_) visit(*allocation);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& allocation : allocations_) visit(std::as_const(*allocation));
  }

  /// The memory that kernels took with malloc and not yet freed.
  struct Heap {
    std::set<std::uint64_t> addresses;
    std::uint64_t bytes = 0;
    std::uint64_t limit = 8 << 20;  ///< as the hardware's is unless it is told otherwise
    std::uint64_t removals = 0;     ///< how often memory was freed
    /// The bytes that a launch found there and has asked for since, as if it freed nothing, with
    /// what the driver may need beside each piece.
    std::uint64_t demand = 0;
    std::uint64_t next = first_of_heap;
  };
  Heap& heap() { return heap_; }
  /// Zeroed memory for a kernel; 0 when the heap has not that much left.
  std::uint64_t take_of_heap(std::uint64_t bytes);

  /// Takes the contents back, none of what was lent: nothing is allocated at the address
  /// afterwards.
  std::vector<std::byte> remove(std::uint64_t address);

  /// A removed allocation, the last one there, as long as it is remembered.
  struct Removed {
    std::uint64_t address = 0, bytes = 0;
    std::string name;
  };
  const Removed* find_removed(std::uint64_t address) const;

  /// The running launch holds the mutex.
  std::mutex& launching() { return *launching_; }

 private:
  Allocation& add(std::uint64_t address, std::string name);

  std::vector<std::unique_ptr<Allocation>> allocations_;  ///< by ascending address
  std::uint64_t next_ = first_allocation;
  Heap heap_;
  std::unique_ptr<std::mutex> launching_ = std::make_unique<std::mutex>();
  std::map<std::uint64_t, Removed> removed_;  ///< the latest of them, by their addresses
};

}  // namespace warpmeter::model

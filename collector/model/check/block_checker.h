// SPDX-License-Identifier: MIT
// The checker of one block while it runs: what its threads do to shared, local and global memory,
// and what orders them. Blocks that take turns have one each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/model/check/bulk_copies.h"
#include "collector/model/check/checker.h"
#include "collector/model/check/cluster_races.h"
#include "collector/model/check/plain/plan.h"
#include "collector/model/check/unset/registers.h"
#include "collector/model/machine/observer.h"

namespace warpmeter::model::check {

class BlockChecker final : public BlockObserver, private ConflictSink {
 public:
  explicit BlockChecker(Checker& launch);

  const std::uint8_t* watched() const override { return launch_.watched_.data(); }
  const std::uint8_t* watches_more() const override { return &launch_.follows_memory_; }
  LateLoads* late_loads() override { return &late_; }
  void take_late_loads() override {
    if (late_.next != late_room_.data()) look_at_late_loads();
  }
  void start(std::uint64_t block, const std::byte* shared) override;
  void observe(const Warp& warp, const Operation* op, std::uint32_t mask) override;
  std::byte* refuse(const Warp& warp, const Operation* op, TrapKind kind, AddressSpace space,
                    unsigned lane, std::uint64_t address) override;
  void accept(const Warp& warp, const Operation* op, const SiteInfo& info,
              const Places& places) override;
  void accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                    const Places& places) override;
  void written_for(const Warp& warp, unsigned lane, std::uint64_t address,
                   std::uint64_t bytes) override;
  void arrive(std::uint32_t barrier, std::uint32_t warp) override;
  void release(const Meeting& meeting) override;
  void part(const Warp& warp, const Operation* barrier, std::uint32_t lanes) override;
  void end() override;

 private:
  /// The access that is looked at, for take().
  struct Current {
    const Warp* warp = nullptr;
    const Operation* op = nullptr;
    const SiteInfo* info = nullptr;  ///< none of the program's own for a texture's elements
    std::uint32_t site = 0;          ///< its number in the program
    Places places;
    const Region* region = nullptr;  ///< the region of global memory
    const Copy* copy = nullptr;      ///< that is finished; then there are no places
  };

  bool take(const Conflict& conflict) override;
  bool writes_same(const Conflict& conflict) const;
  std::uint32_t lanes_beside(const Conflict& conflict) const;
  std::uint64_t base_of_current() const;
  const std::byte* memory_of_current() const;
  std::string_view atomic_instead(std::uint32_t other) const;
  bool is_one_statement(std::uint32_t other) const;
  bool is_ordered_elsewhere(const Conflict& conflict, Span span) const;
  Described describe(const Conflict& conflict, Span span, bool is_equal) const;
  std::string order_wanted(const Conflict& conflict, Span span) const;
  std::string fence_wanted(const Conflict& conflict, Span span) const;
  Moment now() const { return {contexts_.next(), launch_.contexts_.next()}; }
  void signal(const Warp& warp, const SiteInfo& info, const Places& places);
  std::uint32_t context_of(std::uint32_t site, std::uint32_t warp, bool writes, bool is_strong,
                           bool is_shared, bool hands_on);
  /// The contexts from first_shared_ and first_global_ on are those of this moment.
  void note_moment() {
    if (moment_ == order_.now()) return;
    moment_ = order_.now();
    first_shared_ = contexts_.next();
    first_global_ = launch_.contexts_.next();
  }
  /// The last context of a site's accesses by a warp.
  std::uint32_t& number_of(std::uint32_t site, std::uint32_t warp, bool is_shared) {
    return (is_shared ? shared_number_ : global_number_)[warp * program_.sites.size() + site];
  }
  std::uint32_t plain_context_of(std::uint32_t site, std::uint32_t warp, bool writes,
                                 bool is_shared);
  /// An access of that context, as a shadow has to know it.
  Accessing accessing(std::uint32_t number, bool is_shared) const {
    const Contexts& contexts = is_shared ? contexts_ : launch_.contexts_;
    return {order_,
            contexts,
            number,
            contexts[number],
            is_shared ? 0 : first_number_,
            launch_.is_plain_,
            is_shared || !launch_.has_narrow_};
  }
  void check_mask(const Warp& warp, const Operation* op, std::uint32_t mask);
  void check_shuffle(const Warp& warp, const Operation* op, std::uint32_t mask);
  void observe_instruction(const Warp& warp, const Operation* op, std::uint32_t mask);
  void advance_copies(const Warp& warp, const CopyInfo& info, std::uint32_t mask);
  void hand_over_copies(const Warp& warp, const Operation* op, std::uint32_t mask);
  std::optional<std::uint64_t> object_of(const Warp& warp, const Operation* op,
                                         unsigned lane) const;
  void check_sources(const Warp& warp, const Operation* op, const SiteInfo& info,
                     const Places& places);
  void add_changed(std::uint32_t copy, std::uint32_t of, std::uint32_t instruction,
                   std::uint32_t thread, std::uint64_t address);
  void check_object_store(const Warp& warp, const Operation* op, const SiteInfo& info,
                          const Places& places);
  void write_copy(const Warp& warp, unsigned lane, const Copy& copy);
  void add_unawaited(const Copy& copy, std::uint32_t instruction, std::uint32_t thread,
                     bool writes);
  void check_bulk_copies(const Warp& warp, const Operation* op, const SiteInfo& info,
                         const Places& places);
  void add_unawaited(const Stretch& stretch, std::uint32_t instruction, std::uint32_t thread,
                     std::uint64_t offset, bool writes);
  bool is_copied_in_bulk(const Operation& op) const;
  void pass_on_in_bulk(MarkedBytes* written, std::uint64_t offset);
  void check_bulk_size(const Warp& warp, const Operation* op, std::uint32_t mask);
  void check_bytes(const Warp& warp, const Operation* op, unsigned lane, std::uint64_t bits);
  void advance_bulk_copies(const Warp& warp, std::uint32_t instruction, std::uint32_t mask);
  void check_copies(const Warp& warp, const Operation* op, const SiteInfo& info,
                    const Places& places, bool is_copy);
  void find_segments(std::vector<Segment>& segments, std::uint32_t width, const Places& places);
  void check_written(MarkedBytes& written, std::uint64_t offset, const Segment& segment);
  void check_array(std::uint64_t offset, const Segment& segment);
  void add_unwritten(std::uint64_t offset, unsigned lane, bool is_partly);
  void note_partly_written(const MarkedBytes& written, std::uint64_t begin, std::uint32_t lanes);
  void pass_on_unset(MarkedBytes& written, std::uint64_t offset, const Segment& segment);
  std::string memory_at(std::uint64_t offset) const;
  /// "shared memory at byte 128 of 'tile' (element 32 of 4 bytes)"; `width`: of the access.
  std::string shared_at(std::uint64_t offset, std::uint64_t width) const;
  std::string unset_value(const UnsetRegisters::Found& found, std::uint32_t instruction) const;
  void check_registers(const Warp& warp, const Operation* op);
  const Region& region_of(std::uint32_t site, std::uint64_t address);
  void check_segments(const std::vector<Segment>& segments);
  void check_access(const Warp& warp, const Operation* op, const SiteInfo& info,
                    const Places& places);
  /// An access that follows a plan, with what it touches.
  struct Planned {
    const Warp* warp = nullptr;
    const Operation* op = nullptr;
    const SiteInfo* info = nullptr;
    Places places{};
    Plan* plan = nullptr;
    Shadow* shadow = nullptr;
    MarkedBytes* written = nullptr;
    Region region{};           ///< in global memory
    std::uint64_t sector = 0;  ///< the sector of the first byte

    bool is_shared() const { return places.space == AddressSpace::shared; }
    std::uint64_t sector_of(const Part& part) const {
      return sector + static_cast<std::uint64_t>(std::int64_t{part.sector});
    }
  };
  void find_places(Plan& plan, const SiteInfo& info) const;
  bool find(Planned& planned);
  void look_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                  const Places& places);
  void warm(std::span<const LateLoad> loads);
  bool note_shared(const LateLoad& load, const Site& shape);
  bool touch_global(const LateLoad& load);
  template <bool writes>
  void touch_rest(const Planned& planned, std::span<const Part> left, const Accessing& by);
  bool touch_plainly(const Planned& planned);
  void touch_parts(const Planned& planned);
  void look_at_late_loads();
  bool may_wait(const Warp& warp, const Operation* op, std::uint64_t place);
  void take_reads();
  void note_past();
  void synchronise(const Warp& warp, const Operation* op, const SiteInfo& info,
                   const Places& places);
  void start_in_cluster(std::uint64_t block, const std::byte* shared);
  void follow_cluster_barrier(const Warp& warp, const Operation* op, std::uint32_t mask);
  void share_phases(const Meeting& meeting);
  std::uint32_t number_in_cluster(std::uint32_t site, std::uint32_t warp, std::uint32_t mask);
  std::uint32_t waited_phases(std::uint32_t warp) const;
  bool is_ordered_in_cluster(const Context& theirs) const;
  void check_cluster(const Warp& warp, const Operation* op, const SiteInfo& info,
                     const Places& places);
  bool writes_same_in_cluster(const ClusterRaces::Earlier& earlier, std::uint32_t owner,
                              std::uint64_t offset, unsigned lane) const;
  Described describe(const ClusterRaces::Earlier& earlier, const ClusterRaces::By& own,
                     std::uint32_t owner, unsigned lane, bool is_equal) const;
  void note_products(const Warp& warp);
  bool is_behind_product(const Conflict& conflict, Span span) const;
  void note_wait(const Warp& warp, const Operation* op, unsigned lane, std::uint64_t object,
                 std::uint32_t ended);
  /// "; the wait for parity 1 of …", where the warp's last wait at a barrier object was one for a
  /// phase that was over before; else empty.
  std::string vain_wait(std::uint32_t warp) const;
  std::string vain_wait_of_reader(const Conflict& conflict, Span span) const;
  void check_read_only(const Shadow& shadow, std::uint64_t offset, std::uint64_t bytes,
                       const Segment& segment);
  bool phase_of(std::uint64_t object) const;
  bool is_complete(const Warp& warp, const Operation* op, unsigned lane, std::uint64_t bits) const;
  /// "thread (3,0,0) of block (0,0,0) …"
  std::string sentence(std::uint32_t thread, const std::string& what) const;

  Checker& launch_;
  const Program& program_;
  BlockOrder order_;
  Contexts contexts_;  ///< the contexts of accesses to shared memory
  Shadow shared_;
  Locations locations_;  ///< in shared memory
  MarkedBytes shared_written_;
  UnsetRegisters unset_;
  Copies copies_;
  BulkCopies bulk_copies_;
  BulkCopies bulk_sources_;  ///< the stretches of global memory that those read
  /// By lane: the bytes of global memory that the copy about to start reads.
  std::array<std::pair<std::uint64_t, std::uint64_t>, warp_lanes> sources_{};
  std::set<std::uint64_t> objects_;  ///< barrier objects in use, by their places
  std::uint32_t set_in_bulk_ = ~0u;  ///< bytes that are set of the element that is copied: bits
  const std::byte* shared_memory_ = nullptr;
  std::vector<std::uint32_t> shared_number_,
      global_number_;                           ///< the shared number of contexts, by warp and site
  std::vector<std::vector<Segment>> segments_;  ///< by site, of its last access
  std::vector<Plans> plans_;                    ///< by site, of its last access
  std::vector<Region> regions_;                 ///< by site, of its last access
  /// Contexts below these numbers are from before the last barrier of the whole block.
  std::uint32_t past_shared_ = 0, past_global_ = 0;
  /// Loads of shared memory that its shadow has not been told of: see may_wait().
  struct Read {
    const Warp* warp;
    const Operation* op;
    std::uint64_t place;
  };
  std::vector<Read> reads_;
  std::array<LateLoad, 256> late_room_;
  LateLoads late_{late_room_.data(), late_room_.data() + late_room_.size()};
  unsigned warmed_ = 0;      ///< a sum that keeps the loads from being left out
  bool is_written_ = false;  ///< shared memory, since the last barrier of the whole block
  /// Contexts from these numbers on are from since the block's moment (BlockOrder::now()); 0: none
  /// is.
  std::uint32_t first_shared_ = 0, first_global_ = 0;
  Stamp moment_ = 0;
  std::uint64_t removals_ = 0;      ///< the removals of allocations, when those were found
  std::uint32_t first_number_ = 0;  ///< the first number of global contexts, when the block began
  /// Signals within the block, and what its warps were told by others and it by other blocks.
  Signals signals_;
  std::array<Told, warp_lanes> told_;
  Told told_by_blocks_;
  /// Last fences, and last fences or acquiring reads, of each warp, and for the device.
  std::array<Moment, warp_lanes> fences_{}, acquired_{};
  Moment device_fence_, device_acquired_;
  /// A wait for a parity that ended no phase which its thread had not waited for before.
  struct VainWait {
    std::uint32_t instruction = 0;
    std::uint64_t object = 0;
    unsigned parity = 0;
  };
  std::array<std::optional<VainWait>, warp_lanes> vain_waits_;  ///< the last one of each warp
  /// By warp: when it waited for the products of its warpgroup, in order.
  std::array<std::vector<Stamp>, warp_lanes> product_waits_;
  /// By object and thread: how many phases had ended when the thread waited last.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> waited_;
  /// The races of its cluster; null: races between its blocks are not judged, or there is none.
  std::shared_ptr<ClusterRaces> cluster_;
  Checker::Seat seat_;
  struct PhasesOfWarp {
    std::uint32_t arrived = 0, waited = 0;  ///< the last phase of each; 0: none
    std::uint32_t lanes = 0;                ///< that have arrived in it
  };
  std::array<PhasesOfWarp, warp_lanes> phases_{};
  std::uint32_t phases_ended_ = 0;
  std::vector<std::uint32_t> cluster_number_;  ///< the last number in cluster_, by warp and site
  Current current_;
  std::array<std::byte, 64> nowhere_{};
};

}  // namespace warpmeter::model::check

// SPDX-License-Identifier: MIT
#include "collector/model/check/checker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/host_memory.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/check/updates.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model::check {
namespace {

/// Jumps and the like, which a warp executes on its way past what it leaves out.
bool does_nothing(Code code) {
  return code == Code::leave || code == Code::join || code == Code::branch ||
         code == Code::branch_if || code == Code::branch_out || code == Code::gather ||
         code == Code::nothing || code == Code::count_copy || code == Code::meet;
}

/// True if the access may be one to the shared memory of another block.
bool may_leave_block(const SiteInfo& site) {
  return site.space == AddressSpace::cluster || site.space == AddressSpace::generic ||
         site.says_cluster;
}

/// The observed form of an instruction that makes lanes wait for each other, besides moves.
bool is_meeting(Code code) {
  return code == Code::meet || (code >= Code::shfl_up && code <= Code::redux_xor);
}

}  // namespace

std::string Names::thread(std::uint32_t thread) const {
  const Dim3& size = geometry_.block;
  return fmt::format("thread ({},{},{})", thread % size.x, thread / size.x % size.y,
                     thread / size.x / size.y);
}

std::string Names::block(std::uint64_t block) const {
  const Dim3& grid = geometry_.grid;
  return fmt::format("block ({},{},{})", block % grid.x, block / grid.x % grid.y,
                     block / grid.x / grid.y);
}

std::string Names::line(std::uint32_t instruction) const {
  const Place& place = program_.places[instruction];
  return place.line > 0 ? fmt::format("line {}", place.line)
                        : fmt::format("line {} of the PTX", place.ptx_line);
}

namespace {

/// Loads that machine code may have code for.
bool is_load(Code code) {
  switch (code) {
#define LOAD(name, M, R) \
  case Code::name##_a32: \
  case Code::name##_a64:
#include "collector/model/machine/warp/operations.h"
    return true;
    default:
      return false;
  }
}

}  // namespace

Checker::Checker(const Program& program, const Geometry& geometry, DeviceMemory& memory,
                 WrittenMemory& written, Wanted wanted)
    : program_(program),
      geometry_(geometry),
      memory_(memory),
      written_(written),
      wanted_(wanted),
      names_(program, geometry),
      findings_(program),
      updates_(updates(program)),
      watched_(program.operations.size(), 0),
      members_(program.places.size() + 1, no_operand),  // the end of a body is one more instruction
      fences_(program.places.size() + 1, 0),
      is_ignored_(program.places.size() + 1, false),
      in_structures_(sites_in_structures(program)),
      site_of_copy_(program.places.size() + 1, 0),
      passage_(program) {
  for (const SyncInfo& sync : program.syncs) members_.at(sync.instruction) = sync.members;
  for (const FenceInfo& fence : program.fences) {
    fences_.at(fence.instruction) = static_cast<std::uint8_t>(1 + static_cast<int>(fence.scope));
  }
  for (const std::uint32_t wait : program.ignored_waits) is_ignored_.at(wait) = true;
  watch_instructions();
  // A load that may find a part of what it reads unset has to be looked at before that is used; and
  // what was freed meanwhile is not there any more.
  const bool keeps_memory = !program.allocates && program.device_calls.empty();
  const auto may_be_late = [&](const Operation& op) {
    if (!is_load(op.code) || !keeps_memory) return false;
    const SiteInfo& site = program.sites.at(op.extra);
    return site.kind == AccessKind::load && may_plan(site) && site.parts == 1 &&
           !in_structures_.at(op.extra);
  };
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& op = program.operations[i];
    if (may_be_late(op)) watched_[i] |= watch_late;
    const bool meets = members_[op.instruction] != no_operand && is_meeting(op.code);
    if (!does_nothing(op.code)) watched_[i] |= watch_noted;
    if (meets) watched_[i] |= watch_observed | watch_meeting;
    const bool is_followed = op.code == Code::bulk_copy || op.code == Code::await_warpgroup;
    if (is_followed) watched_[i] |= watch_observed;
  }
  for (const UnsetStep& step : program.unset.steps) {
    if (!step.is_dormant) watched_.at(step.operation) |= watch_observed | watch_step;
  }
  for (std::size_t site = 0; site < program.sites.size(); ++site) {
    if (program.sites[site].kind != AccessKind::load) {
      site_of_copy_.at(program.sites[site].instruction) = static_cast<std::uint32_t>(site);
    }
  }
  is_plain_ = !program.has_releases && !program.has_partial_barriers &&
              std::none_of(program.sites.begin(), program.sites.end(), [](const SiteInfo& site) {
                return site.is_strong || site.is_verified || site.kind == AccessKind::atomic ||
                       site.kind == AccessKind::reduction;
              });
  has_narrow_ = std::any_of(program.sites.begin(), program.sites.end(), [](const SiteInfo& site) {
    return site.space == AddressSpace::global && site.scope == Scope::block &&
           (site.is_strong || site.is_atomic());
  });
  has_arrays_ = program.shared_variables.size() > 1;
  has_signals_ = std::any_of(program.sites.begin(), program.sites.end(), [](const SiteInfo& site) {
    return site.kind == AccessKind::atomic || (site.kind == AccessKind::load && site.is_strong);
  });
  look_at_clusters();
  const std::uint64_t available = available_memory();
  budget_.most = available > 0 ? available / 2 : std::uint64_t{4} << 30;
}

Checker::~Checker() = default;

Gaps Checker::gaps() const {
  Gaps gaps = gaps_of(program_);
  gaps.add(Gap::unnamed, has_unnamed_);
  gaps.add(Gap::stray_stores, has_stray_stores_);
  gaps.add(Gap::turns, has_turns_);
  gaps.add(Gap::cluster_signals, has_cluster_signals_);
  return gaps;
}

/// A generic pointer may lead to another block's memory, and so may a copy in bulk, which signals
/// there too.
void Checker::look_at_clusters() {
  is_in_clusters_ = program_.has_clusters && in_clusters(program_, geometry_).cluster.count() > 1;
  if (!is_in_clusters_) return;
  has_remote_writes_ = !program_.bulk_copies.empty();
  has_cluster_signals_ = !program_.bulk_copies.empty() || program_.names_cluster_scope ||
                         std::any_of(program_.fences.begin(), program_.fences.end(),
                                     [](const auto& fence) { return fence.scope != Scope::block; });
  for (const SiteInfo& site : program_.sites) {
    has_remote_writes_ |= may_leave_block(site) && site.kind != AccessKind::load;
    has_cluster_signals_ |= may_signal_in_cluster(site);
  }
  for (const Operation& op : program_.operations) {
    has_cluster_signals_ |= is_object(op) && may_leave_block(program_.sites[op.extra]);
  }
  if (has_cluster_signals_) return;
  for (std::size_t i = 0; i < program_.operations.size(); ++i) {
    const Code code = program_.operations[i].code;
    if (code == Code::cluster_arrive || code == Code::cluster_wait) watched_[i] |= watch_observed;
  }
}

/// An atomic alone hands on nothing: it is relaxed, and a kernel without fences has no others.
bool Checker::may_signal_in_cluster(const SiteInfo& site) const {
  if (site.is_atomic()) return (site.acquires || site.releases) && site.scope != Scope::block;
  return site.is_strong && site.space != AddressSpace::local;
}

Checker::Seat Checker::seat_of(std::uint64_t block) const {
  const Dim3 &grid = geometry_.grid, cluster = in_clusters(program_, geometry_).cluster;
  const auto x = static_cast<std::uint32_t>(block % grid.x),
             y = static_cast<std::uint32_t>(block / grid.x % grid.y),
             z = static_cast<std::uint32_t>(block / grid.x / grid.y);
  const std::uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  return {(z / cluster.z * down + y / cluster.y) * across + x / cluster.x,
          rank_in_cluster({x, y, z}, cluster)};
}

std::uint64_t Checker::block_at(const Seat& seat) const {
  const Dim3 cluster = in_clusters(program_, geometry_).cluster;
  return block_in_clusters(seat.cluster * cluster.count() + seat.rank, geometry_.grid, cluster);
}

/// Its shared memory is followed by units that all accesses to it consist of.
std::shared_ptr<ClusterRaces> Checker::races_in(std::uint64_t cluster) {
  if (std::shared_ptr<ClusterRaces> known = cluster_races_[cluster].lock()) return known;
  std::erase_if(cluster_races_, [](const auto& each) { return each.second.expired(); });
  std::uint32_t unit = 4;
  for (const SiteInfo& site : program_.sites) {
    if (site.space != AddressSpace::shared && !may_leave_block(site)) continue;
    unit = std::min({unit, std::uint32_t{site.width}, std::uint32_t{site.alignment}});
  }
  const auto blocks = static_cast<std::uint32_t>(in_clusters(program_, geometry_).cluster.count());
  auto races =
      std::make_shared<ClusterRaces>(blocks, program_.shared_bytes(geometry_), unit, budget_);
  cluster_races_[cluster] = races;
  return races;
}

void Checker::ended(const LaunchOutcome& outcome) {
  for (std::size_t site = 0; site < outcome.counts.size(); ++site) {
    if (!outcome.counts[site].reaches_ended) continue;
    findings_.add(Defect::out_of_bounds, program_.sites[site].instruction, Span::none, [] {
      return "reaches shared memory of a block of its cluster that has ended; on hardware the "
             "launch fails unless it comes soon enough; let cluster.sync() stand behind the last "
             "access to another block";
    });
  }
}

/// Fences, and what makes groups of copies or waits for them: once each time they are executed.
void Checker::watch_instructions() {
  std::vector<bool> wanted(program_.places.size() + 1, false);
  for (const FenceInfo& fence : program_.fences) wanted.at(fence.instruction) = true;
  for (const CopyInfo& copy : program_.copies) {
    if (copy.kind != CopyInfo::Kind::start) wanted.at(copy.instruction) = true;
  }
  for (const CopyInfo& group : program_.bulk_groups) wanted.at(group.instruction) = true;
  for (std::size_t i = program_.operations.size(); i-- > 0;) {
    const Operation& op = program_.operations[i];
    if (!wanted[op.instruction] || op.code == Code::join) continue;
    watched_[i] |= watch_observed | watch_instruction;
    wanted[op.instruction] = false;
  }
}

/// Strong loads count apart for other streams, a kernel's own allocations come and go, and surfaces
/// name their arrays when it runs.
void Checker::stores_to(const std::set<std::uint64_t>& allocations) {
  const auto is_strong = [](const SiteInfo& site) {
    return site.kind == AccessKind::load && (site.is_strong || site.is_verified);
  };
  const auto stores = [](const TextureAccess& access) {
    using Work = TextureAccess::Work;
    return access.work == Work::store || access.work == Work::store_formatted ||
           access.work == Work::change;
  };
  const bool writes_surfaces =
      std::any_of(program_.texture_accesses.begin(), program_.texture_accesses.end(), stores);
  const bool is_known = !writes_surfaces && !program_.allocates && program_.device_calls.empty() &&
                        program_.copies.empty() && program_.bulk_copies.empty() &&
                        std::none_of(program_.sites.begin(), program_.sites.end(), is_strong);
  if (is_known) stored_ = allocations;
}

std::unique_ptr<BlockObserver> Checker::new_block_observer() {
  return std::make_unique<BlockChecker>(*this);
}

void Checker::follow_memory() {
  if (follows_memory_ != 0) return;
  follows_memory_ = 1;
  for (const UnsetStep& step : program_.unset.steps) {
    watched_[step.operation] |= watch_observed | watch_step;
  }
}

const Region& Checker::region_of(std::uint64_t address) {
  if (removals_ != memory_.heap().removals) {  // freed memory may be given out again
    removals_ = memory_.heap().removals;
    regions_.clear();
    std::erase_if(shadows_, [&](const auto& known) {
      const Allocation* allocation = memory_.find(known.first);
      const bool is_gone = allocation == nullptr || allocation->address != known.first;
      if (is_gone) written_.remove(known.first);
      return is_gone;
    });
  }
  const Allocation* allocation = memory_.find(address);
  Region& region = regions_[allocation->address];
  if (region.allocation == allocation) return region;
  auto& shadow = shadows_[allocation->address];
  if (shadow == nullptr) {
    shadow = std::make_unique<Shadow>(allocation->data.size(), false, budget_);
    // Memory from a kernel's malloc is unset; later kernels find it as it was left.
    if (memory_.heap().addresses.contains(allocation->address) &&
        written_.find(allocation->address) == nullptr) {
      written_.add(allocation->address, allocation->data.size());
    }
  }
  region = {allocation, shadow.get(),        written_.find(allocation->address),
            nullptr,    allocation->address, allocation->data.size()};
  if (stored_ && !stored_->contains(allocation->address)) {
    const std::uint64_t kept = wanted_ == Wanted::touched ? allocation->data.size() : 0;
    const auto [read, is_new] = read_.try_emplace(allocation->address, kept);
    if (is_new) budget_.used += kept / 8;
    region.read = &read->second;
  }
  return region;
}

void Checker::stopped(TrapKind kind, std::uint32_t instruction, const std::string& message) {
  if (kind == TrapKind::waits_outside) return;
  const bool is_barrier =
      kind == TrapKind::divergent_barrier || kind == TrapKind::barrier_not_reached;
  findings_.add(is_barrier ? Defect::barrier : Defect::trap, instruction, Span::grid,
                [&] { return message; });
}

void Checker::for_each_touched(const SeesTouched& see) const {
  std::vector<Strength> of_site;
  for (const SiteInfo& site : program_.sites) {
    of_site.push_back(site.is_of_system ? Strength::system : Strength::device);
  }
  for (const auto& [address, shadow] : shadows_) {
    const Allocation* allocation = memory_.find(address);
    const bool is_there = allocation != nullptr && allocation->address == address;
    if (!is_there || memory_.heap().addresses.contains(address)) continue;
    shadow->for_each_touched(address, allocation->data.size(), contexts_, of_site, see);
    const auto read = read_.find(address);
    if (read == read_.end()) continue;
    const std::uint64_t end = read->second.size();
    for (std::uint64_t from = read->second.next(true, 0, end), to; from < end;
         from = read->second.next(true, to, end)) {
      to = read->second.next(false, from, end);
      see({address + from, to - from, Strength::none, Strength::plain});
    }
  }
}

bool Checker::has_system_fence() const {
  const auto reaches = [](const auto& info) { return info.is_of_system; };
  return std::any_of(program_.fences.begin(), program_.fences.end(), reaches) ||
         std::any_of(program_.sites.begin(), program_.sites.end(), [&](const SiteInfo& site) {
           return site.is_of_system && (site.releases || site.acquires);
         });
}

std::size_t Checker::bytes() const { return budget_.used + contexts_.bytes(); }

}  // namespace warpmeter::model::check

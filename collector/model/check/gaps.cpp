// SPDX-License-Identifier: MIT
#include "collector/model/check/gaps.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model::check {
namespace {

struct Words {
  Gap gap;
  bool is_main;
  std::string_view words;
};

constexpr Words all_words[] = {
    {Gap::order, true,
     "races of volatile, relaxed, acquiring and releasing accesses with each other: PTX allows "
     "them, but orders two such accesses of one thread to different places only by a fence, which "
     "volatile does not replace"},
    {Gap::unnamed, true,
     "accesses that run over from one shared array into another, where the code does not show "
     "which of them is meant"},
    {Gap::stray_stores, true,
     "races between loads of a buffer and stores that leave another one and reach it"},
    {Gap::turns, true,
     "races between blocks that wait for each other (grid.sync(), flags), where one of them comes "
     "to "
     "its next wait before the others have looked"},
    {Gap::cluster_signals, true,
     "races on shared memory, and between blocks on global memory, in clusters whose blocks may "
     "order each other by more than the cluster's barrier (barrier objects, bulk copies, fences, "
     "flags)"},
    {Gap::formatted_stores, false, "races of formatted stores to surfaces (sust.p)"},
    {Gap::copies, false,
     "cp.async copies still under way when their block ends, and in clusters bulk copies under way "
     "then and stores to what they read"},
    {Gap::bulk_copies, false,
     "the fences that bulk copies need (fence.proxy.async), and whether what they store to global "
     "memory is waited for"},
    {Gap::counted_stores, false,
     "reads of what st.async and red.async write, before a wait at their barrier object"},
    {Gap::objects, false, "stores to barrier objects of other blocks"},
    {Gap::widths, false, "atomics of floats that overlap with atomics of another width"},
    {Gap::acquires, false,
     "a missing acquire or fence between an atomic and the barrier behind it, by which other "
     "threads rely on what the atomic read"},
    {Gap::constants, false, "kernels that change __constant__ memory by its address"},
    {Gap::local_memory, false,
     "local variables that another thread reaches by their address, or that are reached when their "
     "function has returned"},
    {Gap::launches, false,
     "races between a kernel and those that it launches itself, and between these; pointers to "
     "local or shared memory that it hands them"},
    {Gap::read_only_loads, false,
     "stores behind a load of the same memory by the read-only way (__ldg, const __restrict__), "
     "past which the compiler may move the load"},
    {Gap::products, false,
     "matrices that are overwritten while wgmma.wait_group leaves products of them under way"},
    {Gap::clusters, false,
     "reads of shared memory that nothing has set, where another block of the cluster may write "
     "it"},
};

std::vector<std::string> words_of(Gaps gaps, bool are_main) {
  std::vector<std::string> all;
  for (const Words& each : all_words) {
    if (each.is_main == are_main && gaps.has(each.gap)) all.emplace_back(each.words);
  }
  return all;
}

bool has_floats_of_several_widths(const Program& program) {
  std::set<std::uint8_t> widths;
  bool has_floats = false;
  for (const SiteInfo& site : program.sites) {
    if (!site.is_atomic() || site.is_apart) continue;
    widths.insert(site.width);
    has_floats |= site.is_float;
  }
  return has_floats && widths.size() > 1;
}

}  // namespace

Gaps gaps_of(const Program& program) {
  const auto some = [](const auto& list, const auto& is_meant) {
    return std::any_of(std::begin(list), std::end(list), is_meant);
  };
  const bool has_objects = program.has_clusters && some(program.operations, is_object);
  const bool has_atomics = some(program.sites, [](const SiteInfo& site) {
    return site.is_atomic() && !site.is_apart && site.space != AddressSpace::shared;
  });
  Gaps gaps;
  gaps.add(Gap::order, some(program.sites, [](const SiteInfo& site) {
             return site.is_strong && !site.is_atomic();
           }));
  gaps.add(Gap::formatted_stores, some(program.texture_accesses, [](const TextureAccess& access) {
             return access.work == TextureAccess::Work::store_formatted;
           }));
  gaps.add(Gap::copies, !program.copies.empty() || !program.bulk_copies.empty());
  gaps.add(Gap::bulk_copies, !program.bulk_copies.empty());
  gaps.add(Gap::counted_stores, some(program.sites, [](const SiteInfo& site) {
             return site.is_apart && !site.is_bulk && site.says_cluster &&
                    (site.kind == AccessKind::store || site.kind == AccessKind::reduction);
           }));
  gaps.add(Gap::objects, has_objects);
  gaps.add(Gap::widths, has_floats_of_several_widths(program));
  gaps.add(Gap::acquires, has_atomics && program.has_releases && !program.barriers.empty());
  gaps.add(Gap::constants, !program.constant_variables.empty());
  gaps.add(Gap::local_memory, program.local_bytes > 0);
  gaps.add(Gap::products, !program.warpgroup_products.empty());
  gaps.add(Gap::launches, !program.device_calls.empty());
  gaps.add(Gap::read_only_loads, some(program.sites, [](const SiteInfo& site) {
             return site.is_read_only && !site.is_texture;
           }));
  gaps.add(Gap::clusters, program.has_clusters);
  return gaps;
}

std::vector<std::string> main_gaps(Gaps gaps) { return words_of(gaps, true); }
std::vector<std::string> further_gaps(Gaps gaps) { return words_of(gaps, false); }

}  // namespace warpmeter::model::check

// SPDX-License-Identifier: MIT
// Special registers: what the hardware tells a thread about itself, its block, the grid, the time.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpmeter::model::ptx {

// SPECIAL(name, text, what it is known to be the same in, what decides it)
#define WARPMETER_PTX_SPECIALS(SPECIAL)                                              \
  SPECIAL(tid_x, "%tid.x", thread, launch)                                           \
  SPECIAL(tid_y, "%tid.y", thread, launch)                                           \
  SPECIAL(tid_z, "%tid.z", thread, launch)                                           \
  SPECIAL(ntid_x, "%ntid.x", grid, launch)                                           \
  SPECIAL(ntid_y, "%ntid.y", grid, launch)                                           \
  SPECIAL(ntid_z, "%ntid.z", grid, launch)                                           \
  SPECIAL(ctaid_x, "%ctaid.x", block, launch)                                        \
  SPECIAL(ctaid_y, "%ctaid.y", block, launch)                                        \
  SPECIAL(ctaid_z, "%ctaid.z", block, launch)                                        \
  SPECIAL(nctaid_x, "%nctaid.x", grid, launch)                                       \
  SPECIAL(nctaid_y, "%nctaid.y", grid, launch)                                       \
  SPECIAL(nctaid_z, "%nctaid.z", grid, launch)                                       \
  SPECIAL(laneid, "%laneid", thread, launch)                                         \
  SPECIAL(warpid, "%warpid", thread, place)                                          \
  SPECIAL(nwarpid, "%nwarpid", grid, launch)                                         \
  SPECIAL(lanemask_eq, "%lanemask_eq", thread, launch)                               \
  SPECIAL(lanemask_le, "%lanemask_le", thread, launch)                               \
  SPECIAL(lanemask_lt, "%lanemask_lt", thread, launch)                               \
  SPECIAL(lanemask_ge, "%lanemask_ge", thread, launch)                               \
  SPECIAL(lanemask_gt, "%lanemask_gt", thread, launch)                               \
  SPECIAL(dynamic_smem_size, "%dynamic_smem_size", grid, launch)                     \
  SPECIAL(total_smem_size, "%total_smem_size", grid, launch)                         \
  SPECIAL(aggr_smem_size, "%aggr_smem_size", grid, launch)                           \
  SPECIAL(smid, "%smid", thread, place)                                              \
  SPECIAL(nsmid, "%nsmid", thread, place)                                            \
  SPECIAL(gridid, "%gridid", thread, place)                                          \
  SPECIAL(clusterid_x, "%clusterid.x", block, launch)                                \
  SPECIAL(clusterid_y, "%clusterid.y", block, launch)                                \
  SPECIAL(clusterid_z, "%clusterid.z", block, launch)                                \
  SPECIAL(nclusterid_x, "%nclusterid.x", grid, launch)                               \
  SPECIAL(nclusterid_y, "%nclusterid.y", grid, launch)                               \
  SPECIAL(nclusterid_z, "%nclusterid.z", grid, launch)                               \
  SPECIAL(cluster_ctaid_x, "%cluster_ctaid.x", block, launch)                        \
  SPECIAL(cluster_ctaid_y, "%cluster_ctaid.y", block, launch)                        \
  SPECIAL(cluster_ctaid_z, "%cluster_ctaid.z", block, launch)                        \
  SPECIAL(cluster_nctaid_x, "%cluster_nctaid.x", grid, launch)                       \
  SPECIAL(cluster_nctaid_y, "%cluster_nctaid.y", grid, launch)                       \
  SPECIAL(cluster_nctaid_z, "%cluster_nctaid.z", grid, launch)                       \
  SPECIAL(cluster_ctarank, "%cluster_ctarank", block, launch)                        \
  SPECIAL(cluster_nctarank, "%cluster_nctarank", grid, launch)                       \
  SPECIAL(is_explicit_cluster, "%is_explicit_cluster", grid, launch)                 \
  SPECIAL(clock, "%clock", thread, clock)                                            \
  SPECIAL(clock64, "%clock64", thread, clock)                                        \
  SPECIAL(clock_hi, "%clock_hi", thread, clock)                                      \
  SPECIAL(globaltimer, "%globaltimer", thread, clock)                                \
  SPECIAL(globaltimer_lo, "%globaltimer_lo", thread, clock)                          \
  SPECIAL(globaltimer_hi, "%globaltimer_hi", thread, clock)                          \
  SPECIAL(current_graph_exec, "%current_graph_exec", thread, place)                  \
  SPECIAL(reserved_smem_offset_begin, "%reserved_smem_offset_begin", thread, launch) \
  SPECIAL(reserved_smem_offset_end, "%reserved_smem_offset_end", thread, launch)     \
  SPECIAL(reserved_smem_offset_cap, "%reserved_smem_offset_cap", thread, launch)     \
  SPECIAL(reserved_smem_offset_0, "%reserved_smem_offset_0", thread, launch)         \
  SPECIAL(reserved_smem_offset_1, "%reserved_smem_offset_1", thread, launch)

enum class Special : std::uint8_t {
#define SPECIAL(name, ...) name,
  WARPMETER_PTX_SPECIALS(SPECIAL)
#undef SPECIAL
      envreg_1,  ///< the high half of the address of the grid's workspace
  envreg_2,      ///< the low half
  envreg,        ///< another one
  counter,       ///< %pm0 and its like
  none,
};

/// The special register of a name; none for another name.
Special special_named(std::string_view name);

/// The largest group of threads in all of which it is known to be the same.
enum class Same : std::uint8_t { thread, block, grid };
Same same_in(Special special);

/// The thing that decides a special register's value.
enum class DecidedBy : std::uint8_t {
  launch,  ///< the shapes of a launch and the thread's own number: it is the same on any device
  clock,   ///< the time, or what hardware has counted by then
  place,   ///< the hardware's choice where a block, a warp or the grid goes
};
DecidedBy decided_by(Special special);

/// Where the shared memory lies that the system keeps for itself.
bool is_of_reserved_shared(Special special);

}  // namespace warpmeter::model::ptx

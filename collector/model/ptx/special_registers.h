// SPDX-License-Identifier: MIT
// Special registers: what the hardware tells a thread about itself, its block, the grid, the time.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpmeter::model::ptx {

// SPECIAL(name, text, what it is known to be the same in)
#define WARPMETER_PTX_SPECIALS(SPECIAL)                                      \
  SPECIAL(tid_x, "%tid.x", thread)                                           \
  SPECIAL(tid_y, "%tid.y", thread)                                           \
  SPECIAL(tid_z, "%tid.z", thread)                                           \
  SPECIAL(ntid_x, "%ntid.x", grid)                                           \
  SPECIAL(ntid_y, "%ntid.y", grid)                                           \
  SPECIAL(ntid_z, "%ntid.z", grid)                                           \
  SPECIAL(ctaid_x, "%ctaid.x", block)                                        \
  SPECIAL(ctaid_y, "%ctaid.y", block)                                        \
  SPECIAL(ctaid_z, "%ctaid.z", block)                                        \
  SPECIAL(nctaid_x, "%nctaid.x", grid)                                       \
  SPECIAL(nctaid_y, "%nctaid.y", grid)                                       \
  SPECIAL(nctaid_z, "%nctaid.z", grid)                                       \
  SPECIAL(laneid, "%laneid", thread)                                         \
  SPECIAL(warpid, "%warpid", thread)                                         \
  SPECIAL(nwarpid, "%nwarpid", grid)                                         \
  SPECIAL(lanemask_eq, "%lanemask_eq", thread)                               \
  SPECIAL(lanemask_le, "%lanemask_le", thread)                               \
  SPECIAL(lanemask_lt, "%lanemask_lt", thread)                               \
  SPECIAL(lanemask_ge, "%lanemask_ge", thread)                               \
  SPECIAL(lanemask_gt, "%lanemask_gt", thread)                               \
  SPECIAL(dynamic_smem_size, "%dynamic_smem_size", grid)                     \
  SPECIAL(total_smem_size, "%total_smem_size", grid)                         \
  SPECIAL(aggr_smem_size, "%aggr_smem_size", grid)                           \
  SPECIAL(smid, "%smid", thread)                                             \
  SPECIAL(nsmid, "%nsmid", thread)                                           \
  SPECIAL(gridid, "%gridid", thread)                                         \
  SPECIAL(clusterid_x, "%clusterid.x", block)                                \
  SPECIAL(clusterid_y, "%clusterid.y", block)                                \
  SPECIAL(clusterid_z, "%clusterid.z", block)                                \
  SPECIAL(nclusterid_x, "%nclusterid.x", grid)                               \
  SPECIAL(nclusterid_y, "%nclusterid.y", grid)                               \
  SPECIAL(nclusterid_z, "%nclusterid.z", grid)                               \
  SPECIAL(cluster_ctaid_x, "%cluster_ctaid.x", block)                        \
  SPECIAL(cluster_ctaid_y, "%cluster_ctaid.y", block)                        \
  SPECIAL(cluster_ctaid_z, "%cluster_ctaid.z", block)                        \
  SPECIAL(cluster_nctaid_x, "%cluster_nctaid.x", grid)                       \
  SPECIAL(cluster_nctaid_y, "%cluster_nctaid.y", grid)                       \
  SPECIAL(cluster_nctaid_z, "%cluster_nctaid.z", grid)                       \
  SPECIAL(cluster_ctarank, "%cluster_ctarank", block)                        \
  SPECIAL(cluster_nctarank, "%cluster_nctarank", grid)                       \
  SPECIAL(is_explicit_cluster, "%is_explicit_cluster", grid)                 \
  SPECIAL(clock, "%clock", thread)                                           \
  SPECIAL(clock64, "%clock64", thread)                                       \
  SPECIAL(clock_hi, "%clock_hi", thread)                                     \
  SPECIAL(globaltimer, "%globaltimer", thread)                               \
  SPECIAL(globaltimer_lo, "%globaltimer_lo", thread)                         \
  SPECIAL(globaltimer_hi, "%globaltimer_hi", thread)                         \
  SPECIAL(current_graph_exec, "%current_graph_exec", thread)                 \
  SPECIAL(reserved_smem_offset_begin, "%reserved_smem_offset_begin", thread) \
  SPECIAL(reserved_smem_offset_end, "%reserved_smem_offset_end", thread)     \
  SPECIAL(reserved_smem_offset_cap, "%reserved_smem_offset_cap", thread)     \
  SPECIAL(reserved_smem_offset_0, "%reserved_smem_offset_0", thread)         \
  SPECIAL(reserved_smem_offset_1, "%reserved_smem_offset_1", thread)

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

/// Where the shared memory lies that the system keeps for itself.
bool is_of_reserved_shared(Special special);

}  // namespace warpmeter::model::ptx

// SPDX-License-Identifier: MIT
// Every operation of the machine, one a line. Included with macros that pick what they need: the
// codes (operation.h), the names and operand types (decode), the code itself (execute/).
//
// PTX names may hold alternatives: "add.{u32,s32}" is add.u32 and add.s32; "add{,.rn}.f32" is
// add.f32 and add.rn.f32. `.ftz` and `.sat` of f32 are operations of their own that decode adds.
//
// UNARY, BINARY, TERNARY(code, PTX names, destination type, source types…, value of one lane)
//   a, b, c: the sources' values in a lane. Functions are in execute/semantics.h.
// COMPARE(code, comparison by its ptx::Word, type, value of one lane): setp and set. gt and ge swap
// their operands. CLASSIFY(code, PTX names, type, value of one lane): one source, a predicate.
// CONVERT(code, destination type, source type, value of one lane): cvt without a rounding that
// differs
//   from the default (integers: towards zero, floats: to nearest).
// CARRY(code, PTX names, type, sources, first addend, second addend, subtracts, reads the carry,
//   writes it)
// LOAD(code, type in memory, type of the destination row); four codes, by the address's width and
//   for one register or a vector. STORE alike.
// OTHER(code): those with a function of their own in execute/.

#ifndef UNARY
#define UNARY(...)
#endif
#ifndef BINARY
#define BINARY(...)
#endif
#ifndef TERNARY
#define TERNARY(...)
#endif
#ifndef COMPARE
#define COMPARE(...)
#endif
#ifndef CLASSIFY
#define CLASSIFY(...)
#endif
#ifndef CONVERT
#define CONVERT(...)
#endif
#ifndef CARRY
#define CARRY(...)
#endif
#ifndef LOAD
#define LOAD(...)
#endif
#ifndef STORE
#define STORE(...)
#endif
#ifndef OTHER
#define OTHER(...)
#endif

#include "collector/model/machine/operations/integers.h"
//
#include "collector/model/machine/operations/floats.h"
//
#include "collector/model/machine/operations/conversions.h"

// Memory, whatever its space.
LOAD(load_u8_u16, u8, u16)
LOAD(load_s8_u16, s8, u16)
LOAD(load_u16_u16, u16, u16)
LOAD(load_u8_u32, u8, u32)
LOAD(load_s8_u32, s8, u32)
LOAD(load_u16_u32, u16, u32)
LOAD(load_s16_u32, s16, u32)
LOAD(load_u32_u32, u32, u32)
LOAD(load_u8_u64, u8, u64)
LOAD(load_s8_u64, s8, u64)
LOAD(load_u16_u64, u16, u64)
LOAD(load_s16_u64, s16, u64)
LOAD(load_u32_u64, u32, u64)
LOAD(load_s32_u64, s32, u64)
LOAD(load_u64_u64, u64, u64)
STORE(store_u8_u16, u8, u16)
STORE(store_u16_u16, u16, u16)
STORE(store_u8_u32, u8, u32)
STORE(store_u16_u32, u16, u32)
STORE(store_u32_u32, u32, u32)
STORE(store_u8_u64, u8, u64)
STORE(store_u16_u64, u16, u64)
STORE(store_u32_u64, u32, u64)
STORE(store_u64_u64, u64, u64)
OTHER(atomic)  // atom and red
OTHER(mbarrier)
OTHER(mbarrier_wait)  // also lets the other warps go on when it has to wait
OTHER(bulk_copy)      // cp.async.bulk and its like
OTHER(count_copy)     // the cost of both sides of cp.async together
OTHER(texture)        // tex, suld, sust and their like
OTHER(load_matrix)
OTHER(store_matrix)
OTHER(matrix_addresses)  // for an access of wmma.load or wmma.store

// Matrices in registers.
OTHER(multiply_matrices)      // mma and wmma.mma
OTHER(multiply_sparse)        // mma.sp
OTHER(multiply_by_warpgroup)  // wgmma.mma_async
OTHER(await_warpgroup)        // wgmma.wait_group
OTHER(transpose_matrix)       // movmatrix

// Moves and selections.
UNARY(mov_b16, "mov.{b16,u16,s16}", u16, u16, a)
UNARY(mov_b32, "mov.{b32,u32,s32}", u32, u32, a)
UNARY(mov_b64, "mov.{b64,u64,s64}", u64, u64, a)
UNARY(mov_f32, "mov.f32", f32, f32, a)
UNARY(mov_f64, "mov.f64", f64, f64, a)
OTHER(selp_b16)
OTHER(selp_b32)
OTHER(selp_b64)
OTHER(bfi_b32)
OTHER(bfi_b64)
OTHER(lop3)
OTHER(pack_2x16)
OTHER(pack_4x16)
OTHER(pack_2x32)
OTHER(unpack_2x16)
OTHER(unpack_4x16)
OTHER(unpack_2x32)
OTHER(clock_32)
OTHER(video)         // vadd4 and its like
OTHER(video_number)  // vadd, vset, vmad and their like
OTHER(clock_64)

// Predicates: masks, not rows. a, b and c may be negated.
OTHER(mov_pred)
OTHER(and_pred)
OTHER(or_pred)
OTHER(xor_pred)

// Lanes talking to each other.
OTHER(shfl_up)
OTHER(shfl_down)
OTHER(shfl_bfly)
OTHER(shfl_idx)
OTHER(vote_all)
OTHER(vote_any)
OTHER(vote_uni)
OTHER(vote_ballot)
OTHER(activemask)
OTHER(meet)  // bar.warp.sync
OTHER(elect)
OTHER(match_any_b32)
OTHER(match_any_b64)
OTHER(match_all_b32)
OTHER(match_all_b64)
OTHER(redux_add)
OTHER(redux_min_u32)
OTHER(redux_min_s32)
OTHER(redux_max_u32)
OTHER(redux_max_s32)
OTHER(redux_and)
OTHER(redux_or)
OTHER(redux_xor)

// Control flow.
OTHER(branch)      // everyone
OTHER(branch_if)   // lanes of a predicate
OTHER(branch_out)  // lanes of a predicate, of which one side leaves a loop early
OTHER(gather)      // a loop that lanes leave early begins: where they will meet behind it
OTHER(join)        // where lanes of a divergent branch meet again
OTHER(leave)       // ret or exit of the kernel
OTHER(barrier)     // bar.sync, bar.arrive, bar.red
OTHER(cluster_arrive)
OTHER(cluster_wait)
OTHER(nothing)  // fences, prefetches and the like
OTHER(trap)
OTHER(call)           // a function's own body
OTHER(call_indirect)  // the one whose address a row holds
OTHER(print)          // vprintf
OTHER(assertion)      // __assertfail
OTHER(allocate)       // malloc
OTHER(deallocate)     // free
OTHER(device_call)    // for the device's runtime; extra: which of Program::device_calls

#include "collector/model/machine/operations/narrow.h"

#undef UNARY
#undef BINARY
#undef TERNARY
#undef COMPARE
#undef CLASSIFY
#undef CONVERT
#undef CARRY
#undef LOAD
#undef STORE
#undef OTHER
